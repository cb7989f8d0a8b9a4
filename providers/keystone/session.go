package keystone

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"time"

	"kolla.openstack.org/kolla/providers"
)

// patience limits the time for one request.
const patience = 10 * time.Second

// login identifies a session.
type login struct {
	keystone providers.InternalURL
	username string
	password providers.SecretKey
}

// session reads from one Keystone as an administrator. It logs in with the first list, and reads
// each list once. Several goroutines may use it.
type session struct {
	proxy    Proxy
	as       login
	password string

	mu    sync.Mutex
	token func() (string, error)
	lists map[string]func() ([]entry, error)
}

func newSession(proxy Proxy, as login, password string) *session {
	return &session{proxy: proxy, as: as, password: password, lists: map[string]func() ([]entry, error){}}
}

// entry is an entry of any kind in Keystone, with the attributes that kolla compares.
type entry struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Type        string `json:"type"`
	Enabled     bool   `json:"enabled"`
	Owner       any    `json:"kolla_owner"` // of users and services
	ServiceID   string `json:"service_id"`
	Interface   string `json:"interface"`
	RegionID    string `json:"region_id"`
	URL         string `json:"url"`
	Description string `json:"description"`
	// User, Role and Scope are those of a role assignment.
	User  reference `json:"user"`
	Role  reference `json:"role"`
	Scope struct {
		Domain  reference `json:"domain"`
		Project reference `json:"project"`
	} `json:"scope"`
}

type reference struct {
	ID string `json:"id"`
}

// list returns the entries of a kind that match a query of names and values.
func (s *session) list(ctx context.Context, kind string, query ...string) ([]entry, error) {
	values := url.Values{}
	for i := 0; i+1 < len(query); i += 2 {
		values.Set(query[i], query[i+1])
	}
	key := kind + "?" + values.Encode()
	s.mu.Lock()
	if s.token == nil {
		s.token = sync.OnceValues(func() (string, error) { return s.logIn(ctx) })
	}
	if s.lists[key] == nil {
		s.lists[key] = sync.OnceValues(func() ([]entry, error) { return s.read(ctx, kind, values) })
	}
	list := s.lists[key]
	s.mu.Unlock()
	return list()
}

// read asks Keystone for a list.
func (s *session) read(ctx context.Context, kind string, query url.Values) ([]entry, error) {
	token, err := s.token()
	if err != nil {
		return nil, err
	}
	answer, err := s.send(ctx, providers.ServiceRequest{
		Method: http.MethodGet, Path: "/" + kind, Query: query, Header: http.Header{"X-Auth-Token": {token}, "Accept": {"application/json"}},
	})
	if err != nil {
		return nil, err
	}
	switch {
	case answer.Status == http.StatusUnauthorized, answer.Status == http.StatusForbidden:
		return nil, &providers.UncomparedError{
			Why:    fmt.Sprintf("Keystone does not let user %s read its %s", s.as.username, kind),
			Advice: "The user needs the role admin in the project of the same name. The job that registers needs it too.",
		}
	case answer.Status != http.StatusOK:
		return nil, unexpected(answer)
	}
	var lists map[string]json.RawMessage
	var found []entry
	if err := errors.Join(json.Unmarshal(answer.Body, &lists), json.Unmarshal(lists[kind], &found)); err != nil {
		return nil, &providers.UncomparedError{Why: fmt.Sprintf("the answer is no list of %s of Keystone", kind)}
	}
	if string(lists["truncated"]) == "true" {
		return nil, &providers.UncomparedError{
			Why:    fmt.Sprintf("Keystone cuts its list of %s", kind),
			Advice: "Raise list_limit in keystone.conf, or remove it.",
		}
	}
	return found, nil
}

// logIn returns a token for the project of the administrator.
func (s *session) logIn(ctx context.Context) (string, error) {
	if s.password == "" {
		return "", &providers.UncomparedError{Why: fmt.Sprintf("Secret %s has no password for Keystone", s.as.password.Name)}
	}
	type object = map[string]any
	domain := object{"name": "Default"}
	body, err := json.Marshal(object{"auth": object{
		"identity": object{"methods": []string{"password"}, "password": object{
			"user": object{"name": s.as.username, "domain": domain, "password": s.password},
		}},
		"scope": object{"project": object{"name": s.as.username, "domain": domain}},
	}})
	if err != nil {
		return "", err
	}
	answer, err := s.send(ctx, providers.ServiceRequest{
		Method: http.MethodPost, Path: "/auth/tokens", Query: url.Values{"nocatalog": {""}}, Body: body,
		Header: http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json"}},
	})
	if err != nil {
		return "", err
	}
	token := answer.Header.Get("X-Subject-Token")
	switch {
	case answer.Status == http.StatusUnauthorized:
		return "", &providers.UncomparedError{
			Why:    fmt.Sprintf("Keystone refuses the password of user %s in Secret %s", s.as.username, s.as.password.Name),
			Advice: "Somebody may have changed the password in Keystone. Keystone's bootstrap job sets it again: kolla apply -replace=ADDRESS.",
		}
	case answer.Status != http.StatusCreated || token == "":
		return "", unexpected(answer)
	}
	return token, nil
}

// send sends a request. An error of Keystone or of the way there is a *providers.UncomparedError.
func (s *session) send(ctx context.Context, request providers.ServiceRequest) (*providers.ServiceAnswer, error) {
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	answer, err := s.proxy.Proxy(limited, s.as.keystone, request)
	var (
		silent *providers.NoAnswerError
		denied *providers.PermissionError
	)
	switch {
	case err == nil:
		return answer, nil
	case errors.As(err, &silent):
		return nil, &providers.UncomparedError{Why: "Keystone does not answer: " + silent.Why}
	case errors.As(err, &denied):
		return nil, &providers.UncomparedError{Why: denied.Error(), Advice: "kolla rbac prints the rule for services/proxy that the user lacks. Or leave the comparison out with -registrations=false."}
	case ctx.Err() == nil && limited.Err() != nil:
		return nil, &providers.UncomparedError{Why: fmt.Sprintf("Keystone does not answer: nothing came within %s", patience)}
	}
	return nil, err
}

// unexpected describes an answer that is no answer of a healthy Keystone.
func unexpected(answer *providers.ServiceAnswer) error {
	return &providers.UncomparedError{Why: fmt.Sprintf("Keystone answers with status %d (%s)", answer.Status, http.StatusText(answer.Status))}
}
