// Package keystonetest has a server that answers as Keystone's API v3 does, with the attributes of
// Keystone 2025.1. It only reads: its content is a [Database], which a test changes.
package keystonetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Entry is an entry with its attributes.
type Entry map[string]any

// Database is the content of a Keystone.
type Database struct {
	// Password is that of the user admin.
	Password string `json:"password"`
	// Status answers all requests but logins; 0: they succeed.
	Status int `json:"status"`
	// Truncated says that the lists are cut.
	Truncated bool               `json:"truncated"`
	Lists     map[string][]Entry `json:"lists"` // by kind
}

// Clone returns a copy whose entries can be changed.
func (d *Database) Clone() *Database {
	out := *d
	out.Lists = map[string][]Entry{}
	for kind, list := range d.Lists {
		for _, e := range list {
			out.Lists[kind] = append(out.Lists[kind], maps.Clone(e))
		}
	}
	return &out
}

// Find returns the first entry of a kind with an attribute.
func (d *Database) Find(kind, attribute string, value any) Entry {
	for _, e := range d.Lists[kind] {
		if e[attribute] == value {
			return e
		}
	}
	return nil
}

// Remove removes the entries of a kind with an attribute.
func (d *Database) Remove(kind, attribute string, value any) {
	d.Lists[kind] = slices.DeleteFunc(d.Lists[kind], func(e Entry) bool { return e[attribute] == value })
}

// Registered returns a Keystone with what register.py registers for the service glance of the cloud
// prod, and with what other programs have registered.
func Registered(password string) *Database {
	const owner = "Managed by kolla: prod/glance"
	d := &Database{Password: password, Lists: map[string][]Entry{
		"regions":  {{"id": "RegionOne", "description": "", "parent_region_id": nil}, {"id": "elsewhere", "description": "", "parent_region_id": nil}},
		"domains":  {{"id": "default", "name": "Default", "description": "The default domain", "enabled": true, "options": Entry{}, "tags": []string{}}},
		"projects": {{"id": "p-service", "name": "service", "domain_id": "default", "parent_id": "default", "is_domain": false, "enabled": true}},
		"roles":    {{"id": "r-admin", "name": "admin", "domain_id": nil}, {"id": "r-service", "name": "service", "domain_id": nil}, {"id": "r-creator", "name": "creator", "domain_id": nil}},
		"users": {
			{"id": "u-admin", "name": "admin", "domain_id": "default", "enabled": true, "options": Entry{}, "password_expires_at": nil},
			{"id": "u-glance", "name": "glance", "domain_id": "default", "enabled": true, "options": Entry{}, "password_expires_at": nil, "kolla_owner": owner, "kolla_grants": []string{"projects/p-service/roles/r-admin", "projects/p-service/roles/r-service"}},
		},
		"role_assignments": {
			{"role": Entry{"id": "r-admin"}, "user": Entry{"id": "u-glance"}, "scope": Entry{"project": Entry{"id": "p-service"}}},
			{"role": Entry{"id": "r-service"}, "user": Entry{"id": "u-glance"}, "scope": Entry{"project": Entry{"id": "p-service"}}},
			{"role": Entry{"id": "r-admin"}, "group": Entry{"id": "g-1"}, "scope": Entry{"project": Entry{"id": "p-service"}, "OS-INHERIT:inherited_to": "projects"}},
		},
		"services": {
			{"id": "s-identity", "type": "identity", "name": "keystone", "enabled": true},
			{"id": "s-image", "type": "image", "name": "glance", "enabled": true, "kolla_owner": owner},
		},
	}}
	for _, side := range []string{"internal", "public"} {
		host := map[string]string{"internal": "openstack", "public": "example.org"}[side]
		d.Lists["endpoints"] = append(d.Lists["endpoints"],
			Endpoint("e-identity-"+side, "s-identity", side, "RegionOne", "http://keystone."+host+":5000/v3", ""),
			Endpoint("e-image-"+side, "s-image", side, "RegionOne", "http://glance."+host+":9292", owner),
			Endpoint("e-elsewhere-"+side, "s-image", side, "elsewhere", "http://elsewhere:9292", owner))
	}
	return d
}

// Endpoint returns an endpoint.
func Endpoint(id, service, side, region, url, description string) Entry {
	return Entry{"id": id, "service_id": service, "interface": side, "region": region, "region_id": region, "url": url, "enabled": true, "description": description}
}

// Server answers requests from a database.
type Server struct {
	*httptest.Server
	read func() (*Database, error)
	note func(request string) error // may be nil

	mu       sync.Mutex
	requests []string
}

// token is what the server gives to administrators.
const token = "gAAAAABm-token-of-the-administrator"

// Start starts a server at the address of Listen. It calls note with each request, and read for the
// answer. Close ends it.
func Start(read func() (*Database, error), note func(request string) error) (*Server, error) {
	listener, err := Listen()
	if err != nil {
		return nil, err
	}
	s := &Server{read: read, note: note}
	s.Server = httptest.NewUnstartedServer(s)
	_ = s.Listener.Close()
	s.Listener = listener
	s.Server.Start()
	return s, nil
}

// Of starts a server at a loopback address for a test. The test may change the database between
// requests.
func Of(t testing.TB, d *Database) *Server {
	s := &Server{read: func() (*Database, error) { return d, nil }}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

// Listen opens a TCP port at an IPv4 address of this machine that is not a loopback address: an API
// server accepts no loopback address as an endpoint of a Service.
func Listen() (net.Listener, error) {
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		return nil, err
	}
	for _, a := range addresses {
		if in, ok := a.(*net.IPNet); ok && in.IP.To4() != nil && in.IP.IsGlobalUnicast() {
			return net.Listen("tcp", net.JoinHostPort(in.IP.String(), "0"))
		}
	}
	return nil, fmt.Errorf("this machine has no address but loopback: %v", addresses)
}

// Requests returns the requests since the last call: "GET /v3/roles".
func (s *Server) Requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.requests
	s.requests = nil
	return out
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	request := strings.TrimSuffix(r.Method+" "+r.URL.Path+"?"+r.URL.RawQuery, "?")
	s.requests = append(s.requests, request)
	d, err := s.read()
	if s.note != nil {
		err = errors.Join(err, s.note(request))
	}
	if err != nil {
		refuse(w, http.StatusInternalServerError, err.Error())
		return
	}
	kind, ok := strings.CutPrefix(r.URL.Path, "/v3/")
	list, known := d.Lists[kind]
	switch {
	case ok && kind == "auth/tokens" && r.Method == http.MethodPost:
		logIn(w, r, d)
	case d.Status != 0:
		refuse(w, d.Status, http.StatusText(d.Status))
	case r.Header.Get("X-Auth-Token") != token:
		refuse(w, http.StatusUnauthorized, "The request you have made requires authentication.")
	case r.Method != http.MethodGet:
		refuse(w, http.StatusMethodNotAllowed, "this Keystone is only for reading")
	case !ok || !known:
		refuse(w, http.StatusNotFound, "(http://keystone/) : The resource could not be found.")
	default:
		answer(w, http.StatusOK, Entry{kind: matching(list, r), "truncated": d.Truncated, "links": Entry{"next": nil, "self": "http://keystone/v3/" + kind, "previous": nil}})
	}
}

// logIn answers a login with a password, for the project admin.
func logIn(w http.ResponseWriter, r *http.Request, d *Database) {
	type named struct {
		Name   string
		Domain struct{ Name string }
	}
	var body struct {
		Auth struct {
			Identity struct {
				Methods  []string
				Password struct {
					User struct {
						named
						Password string
					}
				}
			}
			Scope struct{ Project named }
		}
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	user, project := body.Auth.Identity.Password.User, body.Auth.Scope.Project
	if !slices.Equal(body.Auth.Identity.Methods, []string{"password"}) || user.Name != "admin" || user.Domain.Name != "Default" || user.Password != d.Password ||
		project.Name != "admin" || project.Domain.Name != "Default" {
		refuse(w, http.StatusUnauthorized, "The request you have made requires authentication.")
		return
	}
	w.Header().Set("X-Subject-Token", token)
	answer(w, http.StatusCreated, Entry{"token": Entry{"methods": []string{"password"}, "user": Entry{"id": "u-admin", "name": "admin"}}})
}

// matching returns the entries with the attributes of the query. A dot separates the names of nested
// attributes.
func matching(list []Entry, r *http.Request) []Entry {
	out := []Entry{}
	for _, e := range list {
		fits := true
		for name, values := range r.URL.Query() {
			var at any = e
			for part := range strings.SplitSeq(name, ".") {
				in, _ := at.(Entry)
				if other, ok := at.(map[string]any); ok {
					in = other
				}
				at = in[part]
			}
			fits = fits && strings.EqualFold(fmt.Sprint(at), values[0])
		}
		if fits {
			out = append(out, e)
		}
	}
	return out
}

func refuse(w http.ResponseWriter, status int, message string) {
	answer(w, status, Entry{"error": Entry{"code": status, "title": http.StatusText(status), "message": message}})
}

func answer(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(value)
}
