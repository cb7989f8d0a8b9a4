package rabbitmq

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"kolla.openstack.org/kolla/providers"
)

const (
	// patience limits the time for one request.
	patience = 10 * time.Second
	// maxAnswer is the largest answer that is read, in bytes.
	maxAnswer = 32 << 20
)

// session reads from one server as an administrator. It reads each list once. Several goroutines may use
// it.
type session struct {
	forwarder providers.Forwarder
	server    providers.PodServer
	password  string
	web       *http.Client

	mu    sync.Mutex // of the fields below
	first func() (*answered, error)
	lists map[string]func() ([]entry, error)
}

// answered is the first member that answered, and its answer.
type answered struct {
	member providers.PodPort
	vhosts []entry
}

// entry is an entry of any kind, with the attributes that kolla compares.
type entry struct {
	Name        string `json:"name"`
	Description string `json:"description"` // of a virtual host
	Tags        tags   `json:"tags"`        // of a user
	Hash        string `json:"password_hash"`
	Algorithm   string `json:"hashing_algorithm"`
	User        string `json:"user"` // of permissions
	VHost       string `json:"vhost"`
	Configure   string `json:"configure"`
	Write       string `json:"write"`
	Read        string `json:"read"`
}

// tags are the tags of a user, a list, or up to RabbitMQ 3.8 a text with commas.
type tags []string

// UnmarshalJSON implements json.Unmarshaler.
func (t *tags) UnmarshalJSON(text []byte) error {
	var names string
	if json.Unmarshal(text, &names) != nil {
		return json.Unmarshal(text, (*[]string)(t))
	}
	*t = nil
	if names != "" {
		*t = strings.Split(names, ",")
	}
	return nil
}

// columns are the attributes that are asked for, by kind. The lists of virtual hosts have numbers of
// messages otherwise.
var columns = map[string]string{
	"vhosts":      "name,description",
	"users":       "name,tags,password_hash,hashing_algorithm",
	"permissions": "user,vhost,configure,write,read",
}

func newSession(forwarder providers.Forwarder, server providers.PodServer, password string) *session {
	s := &session{forwarder: forwarder, server: server, password: password, lists: map[string]func() ([]entry, error){}}
	s.web = &http.Client{
		Transport: &http.Transport{DialContext: s.dial},
		// A redirect would take the password to wherever a pod wants.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return s
}

// dial connects to a member by its name.
func (s *session) dial(ctx context.Context, _, address string) (net.Conn, error) {
	for _, member := range s.server.Members {
		if address == hostOf(member) {
			return s.forwarder.Forward(ctx, member)
		}
	}
	return nil, fmt.Errorf("there is no pod %s", address)
}

// hostOf returns the name of a member in URLs.
func hostOf(member providers.PodPort) string {
	return net.JoinHostPort(member.Pod, strconv.Itoa(member.Port))
}

// list returns the entries of a kind.
func (s *session) list(ctx context.Context, kind string) ([]entry, error) {
	s.mu.Lock()
	if s.first == nil {
		s.first = sync.OnceValues(func() (*answered, error) { return s.find(ctx) })
	}
	first := s.first
	if s.lists[kind] == nil {
		s.lists[kind] = sync.OnceValues(func() ([]entry, error) { return s.read(ctx, kind) })
	}
	list := s.lists[kind]
	s.mu.Unlock()
	from, err := first()
	switch {
	case err != nil:
		return nil, err
	case kind == "vhosts":
		return from.vhosts, nil
	}
	return list()
}

// find asks the members for their virtual hosts, until one answers.
func (s *session) find(ctx context.Context) (*answered, error) {
	if s.password == "" {
		return nil, &providers.UncomparedError{Why: fmt.Sprintf("Secret %s has no password for RabbitMQ", s.server.Password.Name)}
	}
	var all []string
	for _, member := range s.server.Members {
		found, err := s.ask(ctx, member, "vhosts")
		var silent *providers.NoAnswerError
		switch {
		case err == nil:
			return &answered{member, found}, nil
		case !errors.As(err, &silent):
			return nil, err
		case len(s.server.Members) == 1:
			all = append(all, silent.Why)
		default:
			all = append(all, member.Pod+": "+silent.Why)
		}
	}
	return nil, &providers.UncomparedError{Why: "RabbitMQ does not answer: " + strings.Join(all, "; ")}
}

// read asks the member for a list that answered first.
func (s *session) read(ctx context.Context, kind string) ([]entry, error) {
	from, err := s.first()
	if err != nil {
		return nil, err
	}
	found, err := s.ask(ctx, from.member, kind)
	var silent *providers.NoAnswerError
	if errors.As(err, &silent) {
		return nil, &providers.UncomparedError{Why: "RabbitMQ does not answer: " + silent.Why}
	}
	return found, err
}

// ask asks a member for a list. If the member does not answer, the error is a *providers.NoAnswerError.
func (s *session) ask(ctx context.Context, member providers.PodPort, kind string) ([]entry, error) {
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	request, err := http.NewRequestWithContext(limited, http.MethodGet, "http://"+hostOf(member)+"/api/"+kind+"?columns="+columns[kind], nil)
	if err != nil {
		return nil, err
	}
	request.SetBasicAuth(s.server.Username, s.password)
	response, err := s.web.Do(request)
	if err != nil {
		return nil, s.explain(ctx, limited, err)
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	err = errors.Join(err, response.Body.Close())
	switch {
	case err != nil:
		return nil, s.explain(ctx, limited, err)
	case response.StatusCode == http.StatusUnauthorized:
		return nil, &providers.UncomparedError{
			Why:    fmt.Sprintf("RabbitMQ refuses the password of user %s in Secret %s", s.server.Username, s.server.Password.Name),
			Advice: "Somebody may have changed the password or the user. The catalogue's RabbitMQ makes them again when it starts: restart its pod.",
		}
	case response.StatusCode == http.StatusServiceUnavailable:
		return nil, &providers.NoAnswerError{Why: "it is not ready"}
	case response.StatusCode != http.StatusOK:
		return nil, &providers.UncomparedError{Why: fmt.Sprintf("RabbitMQ answers with status %d (%s)", response.StatusCode, http.StatusText(response.StatusCode))}
	}
	var found []entry
	if len(body) > maxAnswer || json.Unmarshal(body, &found) != nil {
		return nil, &providers.UncomparedError{Why: fmt.Sprintf("the answer is no list of %s of RabbitMQ", kind)}
	}
	return found, nil
}

// explain returns the error of a request. An error of RabbitMQ is a *providers.NoAnswerError, and a missing
// right a *providers.UncomparedError.
func (s *session) explain(ctx, limited context.Context, err error) error {
	var (
		silent *providers.NoAnswerError
		denied *providers.PermissionError
		broken *net.OpError
	)
	switch {
	case errors.As(err, &denied):
		return &providers.UncomparedError{Why: denied.Error(), Advice: "kolla rbac prints the rule for pods/portforward that the user lacks. Or leave the comparison out with -registrations=false."}
	case errors.As(err, &silent):
		return silent
	case ctx.Err() == nil && limited.Err() != nil:
		return &providers.NoAnswerError{Why: fmt.Sprintf("nothing came within %s", patience)}
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.As(err, &broken):
		return &providers.NoAnswerError{Why: "its answer breaks off"}
	}
	return err
}
