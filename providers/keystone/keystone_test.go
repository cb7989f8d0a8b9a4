package keystone_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kolla.openstack.org/kolla/internal/dev/keystonetest"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/keystone"
)

const password = "the administrator's password"

// direct sends requests to a server without an API server between.
type direct struct{ url string }

func (d direct) Proxy(ctx context.Context, to providers.InternalURL, r providers.ServiceRequest) (*providers.ServiceAnswer, error) {
	request, err := http.NewRequestWithContext(ctx, r.Method, d.url+to.Path+r.Path+"?"+r.Query.Encode(), bytes.NewReader(r.Body))
	if err != nil {
		return nil, err
	}
	request.Header = r.Header
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	return &providers.ServiceAnswer{Status: response.StatusCode, Header: response.Header, Body: body}, err
}

// refusing refuses all requests.
type refusing struct{ err error }

func (r refusing) Proxy(context.Context, providers.InternalURL, providers.ServiceRequest) (*providers.ServiceAnswer, error) {
	return nil, r.err
}

func values(_, name string) map[string][]byte {
	if name != "keystone-admin" {
		return nil
	}
	return map[string][]byte{"value": []byte(password)}
}

// wanted returns what the jobs of glance register, as keystonetest.Registered has it.
func wanted() *providers.KeystoneRegistration {
	return &providers.KeystoneRegistration{
		Keystone: providers.InternalURL{Scheme: "http", Namespace: "openstack", Service: "keystone", Port: "5000", Path: "/v3"},
		Username: "admin", Password: providers.SecretKey{Namespace: "openstack", Name: "keystone-admin", Key: "value"},
		Region: "RegionOne", Owner: "prod/glance",
		Users:     []providers.RegisteredUser{{Name: "glance", Domain: "Default", Project: "service", Roles: []string{"admin", "service"}}},
		Roles:     []string{"creator"},
		Endpoints: []providers.RegisteredEndpoint{{Type: "image", Name: "glance", Internal: "http://glance.openstack:9292", Public: "http://glance.example.org:9292"}},
	}
}

// TestCompare changes registrations in Keystone or in the configuration, and checks the differences.
func TestCompare(t *testing.T) {
	const owner = "Managed by kolla: prod/glance"
	type differences = []providers.Difference
	tests := map[string]struct {
		change func(d *keystonetest.Database, w *providers.KeystoneRegistration)
		want   differences
	}{
		"the same": {func(*keystonetest.Database, *providers.KeystoneRegistration) {}, nil},
		"an endpoint deleted": {
			func(d *keystonetest.Database, _ *providers.KeystoneRegistration) {
				d.Remove("endpoints", "id", "e-image-public")
			},
			differences{{Path: `endpoints["image/public/RegionOne"].url`, Declared: "http://glance.example.org:9292"}},
		},
		"an endpoint changed and disabled": {
			func(d *keystonetest.Database, _ *providers.KeystoneRegistration) {
				e := d.Find("endpoints", "id", "e-image-internal")
				e["url"], e["enabled"] = "http://10.0.0.9:9292", false
			},
			differences{
				{Path: `endpoints["image/internal/RegionOne"].enabled`, Declared: true, Live: false},
				{Path: `endpoints["image/internal/RegionOne"].url`, Declared: "http://glance.openstack:9292", Live: "http://10.0.0.9:9292"},
			},
		},
		"an endpoint of another cloud": {
			func(d *keystonetest.Database, _ *providers.KeystoneRegistration) {
				d.Find("endpoints", "id", "e-image-internal")["description"] = "Managed by kolla: test/glance"
			},
			differences{{Path: `endpoints["image/internal/RegionOne"].description`, Declared: owner, Live: "Managed by kolla: test/glance"}},
		},
		"an endpoint twice": {
			func(d *keystonetest.Database, _ *providers.KeystoneRegistration) {
				d.Lists["endpoints"] = append(d.Lists["endpoints"],
					keystonetest.Endpoint("a-first", "s-image", "public", "RegionOne", "http://other", ""),
					keystonetest.Endpoint("x-last", "s-image", "public", "RegionOne", "http://other", owner))
			},
			differences{{Path: `endpoints["image/public/RegionOne/x-last"].url`, Live: "http://other"}},
		},
		"a service deleted": {
			func(d *keystonetest.Database, _ *providers.KeystoneRegistration) {
				d.Remove("services", "id", "s-image")
				d.Remove("endpoints", "service_id", "s-image")
			},
			differences{
				{Path: `endpoints["image/internal/RegionOne"].url`, Declared: "http://glance.openstack:9292"},
				{Path: `endpoints["image/public/RegionOne"].url`, Declared: "http://glance.example.org:9292"},
				{Path: `services["image"].name`, Declared: "glance"},
			},
		},
		"a service disabled": {
			func(d *keystonetest.Database, _ *providers.KeystoneRegistration) {
				d.Find("services", "id", "s-image")["enabled"] = false
			},
			differences{{Path: `services["image"].enabled`, Declared: true, Live: false}},
		},
		"a service that two clouds share": {
			func(d *keystonetest.Database, _ *providers.KeystoneRegistration) {
				d.Find("services", "id", "s-image")["kolla_owner"] = "Managed by kolla: test/glance"
			}, nil,
		},
		"a service that nothing declares": {
			func(d *keystonetest.Database, _ *providers.KeystoneRegistration) {
				d.Lists["services"] = append(d.Lists["services"], keystonetest.Entry{"id": "s-old", "type": "old", "name": "o", "enabled": true, "kolla_owner": owner})
			},
			differences{{Path: `services["old/s-old"].name`, Live: "o"}},
		},
		"a region deleted": {
			func(d *keystonetest.Database, _ *providers.KeystoneRegistration) {
				d.Remove("regions", "id", "RegionOne")
				d.Remove("endpoints", "region_id", "RegionOne")
			},
			differences{
				{Path: `endpoints["image/internal/RegionOne"].url`, Declared: "http://glance.openstack:9292"},
				{Path: `endpoints["image/public/RegionOne"].url`, Declared: "http://glance.example.org:9292"},
				{Path: `regions["RegionOne"].id`, Declared: "RegionOne"},
			},
		},
		"a user deleted": {
			func(d *keystonetest.Database, _ *providers.KeystoneRegistration) {
				d.Remove("users", "name", "glance")
				d.Lists["role_assignments"] = []keystonetest.Entry{}
			},
			differences{
				{Path: `users["glance"].name`, Declared: "glance"},
				{Path: `users["glance"].roles["admin"].project`, Declared: "service"},
				{Path: `users["glance"].roles["service"].project`, Declared: "service"},
			},
		},
		"a user disabled, without its mark and one role": {
			func(d *keystonetest.Database, _ *providers.KeystoneRegistration) {
				user := d.Find("users", "name", "glance")
				user["enabled"] = false
				delete(user, "kolla_owner")
				d.Lists["role_assignments"] = d.Lists["role_assignments"][1:]
			},
			differences{
				{Path: `users["glance"].enabled`, Declared: true, Live: false},
				{Path: `users["glance"].kolla_owner`, Declared: owner},
				{Path: `users["glance"].roles["admin"].project`, Declared: "service"},
			},
		},
		"a role and a project deleted": {
			func(d *keystonetest.Database, _ *providers.KeystoneRegistration) {
				d.Remove("roles", "name", "creator")
				d.Remove("projects", "name", "service")
				d.Lists["role_assignments"] = []keystonetest.Entry{}
			},
			differences{
				{Path: `projects["service"].name`, Declared: "service"},
				{Path: `roles["creator"].name`, Declared: "creator"},
				{Path: `users["glance"].roles["admin"].project`, Declared: "service"},
				{Path: `users["glance"].roles["service"].project`, Declared: "service"},
			},
		},
		"a user in a domain of its own": {
			func(d *keystonetest.Database, w *providers.KeystoneRegistration) {
				w.Users = []providers.RegisteredUser{{Name: "heat_admin", Domain: "heat", Roles: []string{"admin"}}}
				d.Lists["domains"] = append(d.Lists["domains"], keystonetest.Entry{"id": "d-heat", "name": "heat", "enabled": true})
				d.Lists["users"] = append(d.Lists["users"], keystonetest.Entry{"id": "u-heat", "name": "heat_admin", "domain_id": "d-heat", "enabled": true, "kolla_owner": owner})
			},
			differences{{Path: `users["heat/heat_admin"].roles["admin"].domain`, Declared: "heat"}},
		},
		"its domain deleted": {
			func(_ *keystonetest.Database, w *providers.KeystoneRegistration) {
				w.Users = []providers.RegisteredUser{{Name: "heat_admin", Domain: "heat"}}
			},
			differences{{Path: `domains["heat"].name`, Declared: "heat"}, {Path: `users["heat/heat_admin"].name`, Declared: "heat_admin"}},
		},
		"names in capital letters": {
			func(d *keystonetest.Database, _ *providers.KeystoneRegistration) {
				d.Find("roles", "name", "creator")["name"] = "Creator"
			}, nil,
		},
		"without an owner, which marks and enables nothing": {
			func(d *keystonetest.Database, w *providers.KeystoneRegistration) {
				w.Owner, w.Users, w.Roles = "", nil, nil
				w.Endpoints = []providers.RegisteredEndpoint{{Type: "identity", Name: "another", Internal: "http://keystone.openstack:5000/v3", Public: "http://moved:5000/v3"}}
				d.Find("services", "id", "s-identity")["enabled"] = false
				d.Find("endpoints", "id", "e-identity-internal")["enabled"] = false
			},
			differences{{Path: `endpoints["identity/public/RegionOne"].url`, Declared: "http://moved:5000/v3", Live: "http://keystone.example.org:5000/v3"}},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			d, w := keystonetest.Registered(password), wanted()
			test.change(d, w)
			server := keystonetest.Of(t, d)
			got, err := keystone.New(direct{server.URL}, values).Compare(t.Context(), &providers.Registration{Keystone: w})
			if err != nil {
				t.Fatal(err)
			}
			for i := range test.want {
				test.want[i].Server = "Keystone"
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("differences (-want +got):\n%s", diff)
			}
		})
	}
}

// TestRequests checks that registrations share a login and lists, also at the same time, that Keystone
// is not asked for more than they name, and that nothing is written.
func TestRequests(t *testing.T) {
	server := keystonetest.Of(t, keystonetest.Registered(password))
	r := keystone.New(direct{server.URL}, values)
	if got := server.Requests(); len(got) != 0 {
		t.Errorf("requests without a registration: %v", got)
	}
	var group sync.WaitGroup
	for range 10 {
		group.Go(func() {
			if _, err := r.Compare(t.Context(), &providers.Registration{Keystone: wanted()}); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	got := server.Requests()
	slices.Sort(got)
	want := []string{
		"GET /v3/domains?name=Default",
		"GET /v3/endpoints",
		"GET /v3/projects?domain_id=default&name=service",
		"GET /v3/regions",
		"GET /v3/role_assignments?scope.project.id=p-service",
		"GET /v3/roles",
		"GET /v3/services",
		"GET /v3/users?domain_id=default&name=glance",
		"POST /v3/auth/tokens?nocatalog=",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

// TestCatalogue checks that all endpoints are read, those of disabled services as disabled.
func TestCatalogue(t *testing.T) {
	database := keystonetest.Registered(password)
	database.Find("services", "name", "keystone")["enabled"] = false
	r := keystone.New(direct{keystonetest.Of(t, database).URL}, values)
	all, err := r.Catalogue(t.Context(), wanted())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range all {
		got = append(got, fmt.Sprint(e.Type, " ", e.Name, " ", e.Interface, " ", e.Region, " ", e.URL, " ", e.Disabled))
	}
	want := []string{
		"identity keystone internal RegionOne http://keystone.openstack:5000/v3 true",
		"identity keystone public RegionOne http://keystone.example.org:5000/v3 true",
		"image glance internal RegionOne http://glance.openstack:9292 false",
		"image glance internal elsewhere http://elsewhere:9292 false",
		"image glance public RegionOne http://glance.example.org:9292 false",
		"image glance public elsewhere http://elsewhere:9292 false",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the catalogue (-want +got):\n%s", diff)
	}
}

// TestUncompared checks the reason where Keystone cannot be read. No reason contains the password.
func TestUncompared(t *testing.T) {
	denied := &providers.PermissionError{User: "jane", Verb: "create", Resource: "services/proxy", Namespace: "openstack"}
	tests := map[string]struct {
		change func(d *keystonetest.Database)
		proxy  keystone.Proxy // nil: the server
		secret string         // empty: keystone-admin
		why    string
		advice string // a part
	}{
		"password":  {func(d *keystonetest.Database) { d.Password = "another" }, nil, "", "Keystone refuses the password of user admin in Secret keystone-admin", "-replace"},
		"no Secret": {nil, nil, "gone", "Secret gone has no password for Keystone", ""},
		"forbidden": {func(d *keystonetest.Database) { d.Status = http.StatusForbidden }, nil, "", "Keystone does not let user admin read its roles", "the role admin"},
		"error":     {func(d *keystonetest.Database) { d.Status = http.StatusServiceUnavailable }, nil, "", "Keystone answers with status 503 (Service Unavailable)", ""},
		"cut":       {func(d *keystonetest.Database) { d.Truncated = true }, nil, "", "Keystone cuts its list of roles", "list_limit"},
		"no list":   {func(d *keystonetest.Database) { d.Lists["roles"] = []keystonetest.Entry{{"id": 7}} }, nil, "", "the answer is no list of roles of Keystone", ""},
		"other API": {func(d *keystonetest.Database) { delete(d.Lists, "roles") }, nil, "", "Keystone answers with status 404 (Not Found)", ""},
		"silence": {
			nil,
			refusing{&providers.NoAnswerError{Namespace: "openstack", Service: "keystone", Why: "none of its pods is ready"}},
			"",
			"Keystone does not answer: none of its pods is ready", "",
		},
		"no right": {nil, refusing{denied}, "", `user "jane" is not allowed to create services/proxy in namespace openstack`, "kolla rbac"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			d, w := keystonetest.Registered(password), wanted()
			if test.change != nil {
				test.change(d)
			}
			if test.secret != "" {
				w.Password.Name = test.secret
			}
			proxy := test.proxy
			if proxy == nil {
				proxy = direct{keystonetest.Of(t, d).URL}
			}
			_, err := keystone.New(proxy, values).Compare(t.Context(), &providers.Registration{Keystone: w})
			var got *providers.UncomparedError
			if !errors.As(err, &got) {
				t.Fatalf("error %v, want an UncomparedError", err)
			}
			if got.Why != test.why || !strings.Contains(got.Advice, test.advice) || strings.Contains(got.Why+got.Advice, password) {
				t.Errorf("got %+v, want %q, %q", got, test.why, test.advice)
			}
		})
	}
	failure := errors.New("the API server is gone")
	if _, err := keystone.New(refusing{failure}, values).Compare(t.Context(), &providers.Registration{Keystone: wanted()}); !errors.Is(err, failure) {
		t.Errorf("error %v, want that of the API server", err)
	}
}
