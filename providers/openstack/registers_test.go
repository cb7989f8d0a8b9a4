package openstack_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/keystone"
)

// wantedBy returns what a job of the catalogue tells register.py to register; nil: it does not run
// register.py.
func wantedBy(t *testing.T, o providers.Object) *providers.KeystoneRegistration {
	t.Helper()
	containers, _, _ := unstructured.NestedSlice(o.Manifest.Object, "spec", "template", "spec", "containers")
	variables, _ := containers[0].(map[string]any)["env"].([]any)
	for _, v := range variables {
		v := v.(map[string]any)
		if v["name"] != "WANTED" {
			continue
		}
		var wanted struct {
			Owner     string
			Users     []providers.RegisteredUser
			Roles     []string
			Endpoints []struct {
				Type, Name, URL string
				Public          string `json:"public_url"`
			}
			There any
		}
		if err := json.Unmarshal([]byte(v["value"].(string)), &wanted); err != nil {
			t.Fatal(err)
		}
		if wanted.There != nil {
			return nil
		}
		r := &providers.KeystoneRegistration{Owner: wanted.Owner, Users: wanted.Users, Roles: wanted.Roles}
		for _, e := range wanted.Endpoints {
			r.Endpoints = append(r.Endpoints, providers.RegisteredEndpoint{Type: e.Type, Name: e.Name, Internal: e.URL, Public: e.Public})
		}
		return r
	}
	return nil
}

// keystoneOf returns what a plan compares with Keystone; nil: nothing.
func keystoneOf(o providers.Object) *providers.KeystoneRegistration {
	if o.Registers == nil {
		return nil
	}
	return o.Registers.Keystone
}

// TestRegisters checks that plans compare exactly what the jobs of the catalogue register, with the
// password of Keystone's administrator, and nothing if Keystone is elsewhere.
func TestRegisters(t *testing.T) {
	compared := map[string]*providers.KeystoneRegistration{}
	for _, o := range render(t, load(t, "testdata/registered"), facts()) {
		if !o.IsJob() {
			continue
		}
		registers := keystoneOf(o)
		if registers != nil {
			compared[o.Family.Name] = registers
		}
		want := wantedBy(t, o)
		if want != nil && len(want.Users)+len(want.Roles)+len(want.Endpoints) == 0 {
			want = nil
		}
		switch {
		case want == nil && registers != nil && o.Family.Name != "keystone-bootstrap":
			t.Errorf("%s registers nothing, and %+v is compared", o.Address, registers)
		case want != nil && registers == nil:
			t.Errorf("%s is not compared", o.Address)
		case want != nil:
			got := *registers
			if got.Keystone.ProxyName() != "http:keystone:5000" || got.Keystone.Path != "/v3" || got.Username != "admin" || got.Region != "RegionOne" ||
				got.Password != (providers.SecretKey{Namespace: "openstack", Name: "keystone-admin", Key: "value"}) {
				t.Errorf("%s is compared with %+v", o.Address, got)
			}
			got.Keystone, got.Username, got.Password, got.Region = want.Keystone, "", want.Password, ""
			if diff := cmp.Diff(*want, got); diff != "" {
				t.Errorf("%s (-registered +compared):\n%s", o.Address, diff)
			}
		}
	}
	for _, name := range []string{"stack-register-users", "stack-register-endpoints", "keystone-bootstrap"} {
		if compared[name] == nil {
			t.Errorf("%s is not compared", name)
		}
	}
	if r := compared["keystone-bootstrap"]; r != nil && (r.Owner != "" || len(r.Endpoints) != 1 || r.Endpoints[0].Public != "http://cloud.example.org:5000/v3") {
		t.Errorf("Keystone's own registration: %+v", r)
	}

	elsewhere := load(t, "testdata/registered")
	for i := range elsewhere.Services {
		for j := range elsewhere.Services[i].Provided {
			for k := range elsewhere.Services[i].Provided[j].Jobs {
				if r := elsewhere.Services[i].Provided[j].Jobs[k].Registers; r != nil {
					r.URL = "https://identity.example.org:5000/v3"
				}
			}
		}
	}
	for _, o := range render(t, elsewhere, facts()) {
		if keystoneOf(o) != nil && o.Family.Name != "keystone-bootstrap" {
			t.Errorf("%s is compared with a Keystone elsewhere", o.Address)
		}
	}
}

// fake passes requests on to a fake Keystone.
type fake struct{ url string }

func (f fake) Proxy(ctx context.Context, _ providers.InternalURL, r providers.ServiceRequest) (*providers.ServiceAnswer, error) {
	request, err := http.NewRequestWithContext(ctx, r.Method, f.url+r.Path+"?"+r.Query.Encode(), bytes.NewReader(r.Body))
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

// TestComparisonAgreesWithJob changes what register.py has registered. Each time, a plan sees a
// difference, and none after register.py ran again.
func TestComparisonAgreesWithJob(t *testing.T) {
	k := newIdentity(t)
	declared := &providers.KeystoneRegistration{
		Region: "RegionOne", Owner: "prod/nova", Roles: []string{"creator"},
		Users:     []providers.RegisteredUser{{Name: "nova", Domain: "Default", Project: "service", Roles: []string{"admin", "service"}}, {Name: "guest", Domain: "stacks", Roles: []string{"admin"}}},
		Endpoints: []providers.RegisteredEndpoint{{Type: "compute", Name: "nova", Internal: "http://nova", Public: "http://vip"}},
	}
	wanted := entry{"users": []entry{user("nova", "admin", "service"), {"name": "guest", "domain": "stacks", "project": nil, "roles": []string{"admin"}, "password_file": "guest"}}, "roles": []string{"creator"}, "endpoints": []entry{endpoint("http://nova")}}
	register := func() {
		t.Helper()
		if _, _, err := k.register("prod/nova", wanted, map[string]string{"nova": "n", "guest": "g"}); err != nil {
			t.Fatal(err)
		}
	}
	compare := func() []providers.Difference {
		t.Helper()
		values := func(string, string) map[string][]byte { return map[string][]byte{"": []byte("admin's")} }
		found, err := keystone.New(fake{k.URL}, values).Compare(t.Context(), &providers.Registration{Keystone: declared})
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	one := func(kind, field, value string) entry {
		t.Helper()
		for _, e := range k.things[kind] {
			if e[field] == value {
				return e
			}
		}
		t.Fatalf("no %s %s", kind, value)
		return nil
	}
	remove := func(kind, field, value string) { delete(k.things[kind], one(kind, field, value)["id"].(string)) }
	if found := compare(); len(found) == 0 {
		t.Error("an empty Keystone is not different")
	}
	register()
	if found := compare(); len(found) > 0 {
		t.Errorf("after the job: %v", found)
	}
	for name, change := range map[string]func(){
		"endpoint deleted":  func() { remove("endpoints", "interface", "public") },
		"endpoint changed":  func() { one("endpoints", "interface", "internal")["url"] = "http://10.0.0.9" },
		"endpoint disabled": func() { one("endpoints", "interface", "internal")["enabled"] = false },
		"endpoint unmarked": func() { one("endpoints", "interface", "public")["description"] = "" },
		"endpoint twice": func() {
			twice := entry{"id": "zz"}
			for key, value := range one("endpoints", "interface", "public") {
				if key != "id" {
					twice[key] = value
				}
			}
			k.add("endpoints", twice)
		},
		"service deleted":  func() { remove("services", "type", "compute") },
		"service disabled": func() { one("services", "type", "compute")["enabled"] = false },
		"service renamed":  func() { one("services", "type", "compute")["name"] = "other" },
		"region deleted":   func() { delete(k.things["regions"], "RegionOne") },
		"user deleted":     func() { remove("users", "name", "nova") },
		"user disabled":    func() { one("users", "name", "guest")["enabled"] = false },
		"user unmarked":    func() { delete(one("users", "name", "nova"), "kolla_owner") },
		"roles taken away": func() { clear(k.grants) },
		"role deleted":     func() { remove("roles", "name", "creator") },
		"project deleted":  func() { remove("projects", "name", "service") },
		"domain deleted":   func() { remove("domains", "name", "stacks"); remove("users", "name", "guest") },
	} {
		t.Run(name, func(t *testing.T) {
			k.mutex.Lock()
			change()
			k.mutex.Unlock()
			found := compare()
			if len(found) == 0 {
				t.Error("a plan sees no difference")
			}
			register()
			if left := compare(); len(left) > 0 {
				t.Errorf("after the job: %v; before: %v", left, found)
			}
		})
	}
}
