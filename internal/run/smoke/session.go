package smoke

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/identity/v3/tokens"
)

// The types of the services that checks use.
const (
	identity = "identity"
	image    = "image"
	network  = "network"
	compute  = "compute"
	volume   = "block-storage"
	secret   = "key-manager"
	stack    = "orchestration"
)

// versions are the versions of APIs whose endpoints have none in Keystone's catalogue.
var versions = map[string]string{network: "v2.0/", image: "v2/", secret: "v1/"}

var versioned = regexp.MustCompile(`/v[0-9.]+/`)

// session is a login of a user, for a project.
type session struct {
	client       *gophercloud.ProviderClient
	urls         map[string]string // public URLs by type, which end with a slash
	user, domain string            // IDs
	// sent are the types of services that may have made something.
	sent map[string]bool
}

// The administrator that Keystone's bootstrap makes.
const (
	adminName     = "admin" // also of the project
	defaultDomain = "Default"
)

// administrator logs in as the administrator, for a project.
func (c *Cloud) administrator(ctx context.Context, scope *gophercloud.AuthScope) (*session, error) {
	return c.logIn(ctx, gophercloud.AuthOptions{Username: adminName, DomainName: defaultDomain, Password: c.Password, Scope: scope})
}

// adminProject is the project in which the administrator is one.
func adminProject() *gophercloud.AuthScope {
	return &gophercloud.AuthScope{ProjectName: adminName, DomainName: defaultDomain}
}

// logIn gets a token, and reads the catalogue with it.
func (c *Cloud) logIn(ctx context.Context, options gophercloud.AuthOptions) (*session, error) {
	client := &gophercloud.ProviderClient{HTTPClient: c.http()}
	client.HTTPClient.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	client.UseTokenLock()
	client.UserAgent.Prepend("kolla-check")
	s := &session{client: client, urls: map[string]string{identity: gophercloud.NormalizeURL(c.Keystone)}, sent: map[string]bool{}}
	result := tokens.Create(ctx, &gophercloud.ServiceClient{ProviderClient: client, Endpoint: s.urls[identity]}, &options)
	token, err := result.ExtractTokenID()
	if err != nil {
		return nil, err
	}
	c.Hide(token)
	client.SetToken(token)
	user, userErr := result.ExtractUser()
	project, projectErr := result.ExtractProject()
	catalogue, catalogueErr := result.ExtractServiceCatalog()
	if err := errors.Join(userErr, projectErr, catalogueErr); err != nil || user == nil || catalogue == nil {
		return nil, &faultError{problem: "Keystone answers a login without the user or the catalogue."}
	}
	s.user, s.domain = user.ID, user.Domain.ID
	if project != nil {
		s.domain = project.Domain.ID
	}
	for _, entry := range catalogue.Entries {
		for _, e := range entry.Endpoints {
			if e.Interface == "public" && e.RegionID == c.Region && entry.Type != identity {
				base := gophercloud.NormalizeURL(e.URL)
				if !versioned.MatchString(base) {
					base += versions[entry.Type]
				}
				s.urls[entry.Type] = base
			}
		}
	}
	return s, nil
}

// requestPatience limits the time of one request.
const requestPatience = time.Minute

// http returns a client that trusts the CAs of the exposures. As for other commands, proxies of the environment do
// not count.
func (c *Cloud) http() http.Client {
	return http.Client{Timeout: requestPatience, Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: c.Trust, MinVersion: tls.VersionTLS12}}}
}

// call sends JSON to a service, and reads the JSON of the answer. body and into may be nil.
func (s *session) call(ctx context.Context, method, service, path string, body, into any) error {
	_, err := s.send(ctx, method, service, path, &gophercloud.RequestOpts{JSONBody: body, JSONResponse: into}) //nolint:bodyclose // the library has closed it
	return err
}

// send sends a request. All statuses below 300 are good.
func (s *session) send(ctx context.Context, method, service, path string, options *gophercloud.RequestOpts) (*http.Response, error) {
	base, ok := s.urls[service]
	if !ok {
		return nil, &faultError{problem: fmt.Sprintf("Keystone's catalogue has no public endpoint of type %s in the region.", service), next: "kolla discover -keystone"}
	}
	options.OkCodes = []int{http.StatusOK, http.StatusCreated, http.StatusAccepted, http.StatusNonAuthoritativeInfo, http.StatusNoContent}
	answer, err := s.client.Request(ctx, method, base+path, options)
	if method == http.MethodPost && !refused(err) {
		s.sent[service] = true
	}
	return answer, err
}

// refused reports whether a request certainly had no effect.
func refused(err error) bool {
	var answer gophercloud.ErrUnexpectedResponseCode
	return errors.As(err, &answer) && (answer.Actual < http.StatusInternalServerError || answer.Actual == http.StatusServiceUnavailable)
}

// list returns the things of a kind. Most services send more beside the list, such as links and counts.
func (s *session) list(ctx context.Context, service, kind, query string) (found []item, err error) {
	var answer map[string]json.RawMessage
	if err := s.call(ctx, http.MethodGet, service, kind+query, nil, &answer); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(answer[strings.ReplaceAll(kind, "-", "_")], &found); err != nil {
		return nil, &faultError{problem: fmt.Sprintf("The answer to GET %s%s has no list of %s.", s.urls[service], kind, kind)}
	}
	return found, nil
}

// find returns the ID of the thing with a name or an ID; empty: there is none.
func (s *session) find(ctx context.Context, service, kind, name string) (string, error) {
	found, err := s.list(ctx, service, kind, "?name="+url.QueryEscape(name))
	if err != nil {
		return "", err
	}
	for _, i := range found {
		if i.Name == name {
			return i.ID, nil
		}
	}
	err = s.call(ctx, http.MethodGet, service, kind+"/"+url.PathEscape(name), nil, nil)
	switch {
	case err == nil:
		return name, nil
	case gophercloud.ResponseCodeIs(err, http.StatusNotFound), gophercloud.ResponseCodeIs(err, http.StatusBadRequest):
		return "", nil
	}
	return "", err
}

// last returns the last part of a path.
func last(path string) string { return path[strings.LastIndex(path, "/")+1:] }
