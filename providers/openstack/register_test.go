package openstack_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kolla.openstack.org/kolla/lang/releases"
)

// python runs a script of the catalogue with stubs for keystoneauth1 and openstacksdk.
func python(t *testing.T, name string, env ...string) (output string, err error) {
	t.Helper()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("NOT RUN: there is no python3 to run " + name + " with")
	}
	return pythonWith(t, "python3", name, nil, env...)
}

// pythonWith is python with a given interpreter and with arguments for the script.
func pythonWith(t *testing.T, interpreter, name string, args []string, env ...string) (output string, err error) {
	t.Helper()
	stubs, err := filepath.Abs("testdata/python")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(interpreter, append([]string{"-c", script(t, name)}, args...)...)
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "PYTHONPATH=" + stubs, "PYTHONDONTWRITEBYTECODE=1"}, env...)
	text, err := cmd.CombinedOutput()
	t.Logf("%s", text)
	return string(text), err
}

// entry is a user, a role or another object of Keystone.
type entry map[string]any

// identity is a fake Keystone.
type identity struct {
	*testing.T
	*httptest.Server
	mutex   sync.Mutex
	things  map[string]map[string]entry // by kind and id
	secrets map[string]string           // passwords by id
	grants  map[string]bool             // "projects/P/users/U/roles/R"
	writes  []string
	last    int
}

func newIdentity(t *testing.T) *identity {
	k := &identity{T: t, things: map[string]map[string]entry{}, secrets: map[string]string{"admin": "admin's"}, grants: map[string]bool{}}
	k.add("users", entry{"id": "admin", "name": "admin", "domain_id": "default", "enabled": true})
	k.add("domains", entry{"id": "default", "name": "Default"})
	k.Server = httptest.NewServer(k)
	t.Cleanup(k.Close)
	return k
}

func (k *identity) add(kind string, e entry) entry {
	if k.things[kind] == nil {
		k.things[kind] = map[string]entry{}
	}
	if e["id"] == nil {
		k.last++
		e["id"] = fmt.Sprintf("%s-%d", strings.TrimSuffix(kind, "s"), k.last)
	}
	if password, ok := e["password"].(string); ok {
		k.secrets[e["id"].(string)] = password
		delete(e, "password")
	}
	k.things[kind][e["id"].(string)] = e
	return e
}

func (k *identity) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	body := map[string]entry{}
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	kind := parts[0]
	answer := func(status int, value any) {
		w.WriteHeader(status)
		if value != nil {
			_ = json.NewEncoder(w).Encode(value)
		}
	}
	if kind == "auth" {
		var login struct {
			User, Password string    // of the stub of keystoneauth1
			Auth           *struct{} // of kolla
		}
		_ = json.NewDecoder(r.Body).Decode(&login)
		switch {
		case login.Auth != nil:
			w.Header().Set("X-Subject-Token", "token of admin")
			answer(http.StatusCreated, entry{})
		case k.secrets[login.User] != login.Password || login.Password == "":
			answer(http.StatusUnauthorized, nil)
		default:
			answer(http.StatusCreated, entry{"token": "token of " + login.User, "user": login.User})
		}
		return
	}
	if r.Header.Get("X-Auth-Token") != "token of admin" {
		answer(http.StatusUnauthorized, nil)
		return
	}
	_ = json.NewDecoder(r.Body).Decode(&body)
	if r.Method != http.MethodGet {
		k.writes = append(k.writes, r.Method+" "+r.URL.Path)
	}
	switch {
	case kind == "role_assignments":
		answer(http.StatusOK, entry{kind: k.assignments(r.URL.Query())})
	case len(parts) == 6: // projects/P/users/U/roles/R
		path := strings.Join(parts, "/")
		if k.grants[path] = r.Method == http.MethodPut; !k.grants[path] {
			delete(k.grants, path)
		}
		answer(http.StatusNoContent, nil)
	case r.Method == http.MethodGet:
		found := []entry{}
		for _, id := range slices.Sorted(maps.Keys(k.things[kind])) {
			e, all := k.things[kind][id], true
			for key, values := range r.URL.Query() {
				all = all && fmt.Sprint(e[key]) == values[0]
			}
			if all {
				found = append(found, e)
			}
		}
		answer(http.StatusOK, entry{kind: found})
	case r.Method == http.MethodPost:
		one := strings.TrimSuffix(kind, "s")
		answer(http.StatusCreated, entry{one: k.add(kind, body[one])})
	case r.Method == http.MethodPatch:
		e := k.things[kind][parts[1]]
		maps.Copy(e, body[strings.TrimSuffix(kind, "s")])
		answer(http.StatusOK, entry{strings.TrimSuffix(kind, "s"): k.add(kind, e)})
	case r.Method == http.MethodDelete && k.things[kind][parts[1]] == nil:
		answer(http.StatusNotFound, nil)
	case r.Method == http.MethodDelete:
		delete(k.things[kind], parts[1])
		answer(http.StatusNoContent, nil)
	}
}

// assignments lists those of a user, or those in a scope.
func (k *identity) assignments(query url.Values) []entry {
	out := []entry{}
	for path := range k.grants {
		p := strings.Split(path, "/")
		if scope := strings.TrimSuffix(p[0], "s"); p[3] == query.Get("user.id") || p[1] == query.Get("scope."+scope+".id") {
			out = append(out, entry{"role": entry{"id": p[5]}, "user": entry{"id": p[3]}, "scope": entry{scope: entry{"id": p[1]}}})
		}
	}
	return out
}

// register runs the script, and returns its write requests.
func (k *identity) register(owner string, wanted entry, passwords map[string]string) (writes []string, output string, err error) {
	k.Helper()
	dir := k.TempDir()
	passwords[".admin"] = "admin's"
	for name, password := range passwords {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(password), 0o600); err != nil {
			k.Fatal(err)
		}
	}
	wanted["owner"] = owner
	text, err := json.Marshal(wanted)
	if err != nil {
		k.Fatal(err)
	}
	k.mutex.Lock()
	k.writes = nil
	k.mutex.Unlock()
	output, err = python(k.T, "keystone/register.py", "OS_AUTH_URL="+k.URL, "OS_REGION_NAME=RegionOne", "OS_PASSWORD_FILE="+filepath.Join(dir, ".admin"),
		"PASSWORDS="+dir, "WANTED="+string(text))
	return k.writes, output, err
}

// names lists a field of all entries of a kind.
func (k *identity) names(kind, field string) []string {
	out := []string{}
	for _, e := range k.things[kind] {
		out = append(out, fmt.Sprint(e[field]))
	}
	slices.Sort(out)
	return out
}

func user(name string, roles ...string) entry {
	return entry{"name": name, "domain": "Default", "project": "service", "roles": roles, "password_file": name}
}

func endpoint(url string) entry {
	return entry{"type": "compute", "name": "nova", "url": url, "public_url": "http://vip"}
}

// TestRegister checks that register.py creates, changes and deletes its entries in Keystone, and
// leaves all others alone.
func TestRegister(t *testing.T) {
	k := newIdentity(t)
	const owner = "prod/nova"
	same := func(what string, got, want []string) {
		t.Helper()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	wanted := func(users []entry, url string) entry {
		return entry{"users": users, "roles": []string{"reader"}, "endpoints": []entry{endpoint(url)}}
	}
	two := []entry{user("nova", "admin", "service"), user("nova2", "service")}
	passwords := map[string]string{"nova": "one", "nova2": "two"}
	if _, _, err := k.register(owner, wanted(two, "http://nova"), passwords); err != nil {
		t.Fatal(err)
	}
	same("users", k.names("users", "name"), []string{"admin", "nova", "nova2"})
	same("roles", k.names("roles", "name"), []string{"admin", "reader", "service"})
	same("endpoints", k.names("endpoints", "url"), []string{"http://nova", "http://vip"})
	if len(k.grants) != 3 {
		t.Errorf("grants are %v", k.grants)
	}

	writes, _, err := k.register(owner, wanted(two, "http://nova"), passwords)
	if err != nil || len(writes) > 0 {
		t.Errorf("a second run: %v, it changed %q", err, writes)
	}

	k.add("users", entry{"name": "somebody", "domain_id": "default", "enabled": true})
	passwords["nova"] = "three"
	writes, output, err := k.register(owner, wanted([]entry{user("nova", "service")}, "http://other"), passwords)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"user nova changed: password", "user nova: role taken away", "user nova2 deleted", "compute endpoint, internal changed: url", "everything is registered"} {
		if !strings.Contains(output, want) {
			t.Errorf("%q is not said", want)
		}
	}
	same("users", k.names("users", "name"), []string{"admin", "nova", "somebody"})
	same("endpoints", k.names("endpoints", "url"), []string{"http://other", "http://vip"})
	if strings.Contains(output, "three") || len(writes) != 5 { // "three" is a password
		t.Errorf("it changed %q", writes)
	}

	if _, _, err := k.register(owner, entry{"users": []entry{}, "endpoints": []entry{}}, passwords); err != nil {
		t.Fatal(err)
	}
	same("users", k.names("users", "name"), []string{"admin", "somebody"})
	same("endpoints", k.names("endpoints", "url"), []string{})
	same("services", k.names("services", "name"), []string{})
}

// TestRegisterRefuses checks that register.py changes no entries of other clouds, and not the
// administrator.
func TestRegisterRefuses(t *testing.T) {
	k := newIdentity(t)
	k.add("users", entry{"name": "nova", "domain_id": "default", "enabled": true, "kolla_owner": "Managed by kolla: other/nova"})
	for name, want := range map[string]string{"nova": "user nova is another cloud's", "admin": "user admin is the administrator"} {
		_, output, err := k.register("prod/nova", entry{"users": []entry{user(name, "service")}}, map[string]string{name: "x"})
		if err == nil || !strings.Contains(output, want) {
			t.Errorf("%s: %v, %q is not said", name, err, want)
		}
	}
	if _, _, err := k.register("other/nova", entry{"endpoints": []entry{endpoint("http://theirs")}}, map[string]string{}); err != nil {
		t.Fatal(err)
	}
	_, output, err := k.register("prod/nova", entry{"endpoints": []entry{endpoint("http://ours")}}, map[string]string{})
	if err == nil || !strings.Contains(output, "in region RegionOne is another cloud's") || !slices.Contains(k.names("endpoints", "url"), "http://theirs") {
		t.Errorf("the endpoint of another cloud: %v\n%s", err, output)
	}
	k.secrets["admin"] = "another"
	if _, output, err := k.register("prod/nova", entry{"endpoints": []entry{}}, map[string]string{}); err == nil || strings.Contains(output, "admin's") {
		t.Errorf("with a wrong password: %v", err)
	}
}

// TestRegisterGone checks that the script deletes everything that removed services of this cloud
// have left behind. It must keep entries of declared services, of other clouds and of other owners.
func TestRegisterGone(t *testing.T) {
	gone := func(released bool) (*identity, entry) {
		k := newIdentity(t)
		k.add("domains", entry{"id": "stacks", "name": "stacks", "description": "Managed by kolla: prod/heat"})
		k.add("domains", entry{"id": "theirs", "name": "theirs", "description": "Managed by kolla: prod2/heat"})
		for name, owner := range map[string]string{"nova": "prod/nova", "moved": "prod/old", "glance": "prod/glance", "other": "prod2/nova", "admin2": "", "longer": "prod/nova2/x"} {
			k.add("users", entry{"id": name, "name": name, "domain_id": "default", "kolla_owner": "Managed by kolla: " + owner})
		}
		k.add("users", entry{"id": "bare", "name": "bare", "domain_id": "default"})
		k.add("users", entry{"id": "stack", "name": "stack", "domain_id": "stacks", "kolla_owner": "Managed by kolla: prod/heat"})
		k.add("users", entry{"id": "far", "name": "far", "domain_id": "theirs", "kolla_owner": "Managed by kolla: prod/heat"})
		for id, owner := range map[string]string{"compute": "prod/nova", "image": "prod/old", "volume": "prod/nova", "network": "other/nova"} {
			k.add("services", entry{"id": id, "type": id, "name": id, "kolla_owner": "Managed by kolla: " + owner})
			k.add("endpoints", entry{"id": id, "url": id, "service_id": id, "region_id": "RegionOne", "description": "Managed by kolla: " + owner})
		}
		k.add("endpoints", entry{"id": "elsewhere", "url": "elsewhere", "service_id": "volume", "region_id": "RegionTwo", "description": "Managed by kolla: prod/nova"})
		return k, entry{"there": entry{
			"services": []string{"glance"}, "names": []string{}, "released": released,
			"users":     []entry{{"domain": "Default", "name": "glance"}, {"domain": "Default", "name": "moved"}},
			"endpoints": []entry{{"type": "image", "name": "image"}},
		}}
	}
	k, there := gone(false)
	writes, _, err := k.register("prod", there, map[string]string{})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(writes)
	want := []string{"DELETE /endpoints/compute", "DELETE /endpoints/volume", "DELETE /services/compute", "DELETE /users/longer", "DELETE /users/nova", "DELETE /users/stack"}
	if diff := cmp.Diff(want, writes); diff != "" {
		t.Errorf("it changed (-want +got):\n%s", diff)
	}
	if writes, _, err := k.register("prod", there, map[string]string{}); err != nil || len(writes) > 0 {
		t.Errorf("a second run: %v, it changed %q", err, writes)
	}

	k, there = gone(true) // a removed block keeps the entries of the service
	writes, _, err = k.register("prod", there, map[string]string{})
	if err != nil || slices.ContainsFunc(writes, func(w string) bool { return !strings.HasPrefix(w, "PATCH ") }) || k.things["users"]["nova"]["kolla_owner"] != "" {
		t.Errorf("let go: %v, it changed %q", err, writes)
	}
	there["there"].(entry)["released"] = false
	if writes, _, err := k.register("prod", there, map[string]string{}); err != nil || len(writes) > 0 {
		t.Errorf("after it was let go: %v, it changed %q", err, writes)
	}
}

// TestRegisterGoneTwice checks that two runs at the same time both succeed.
func TestRegisterGoneTwice(t *testing.T) {
	k := newIdentity(t)
	for i := range 20 {
		k.add("users", entry{"id": fmt.Sprint(i), "name": fmt.Sprint(i), "domain_id": "default", "kolla_owner": "Managed by kolla: prod/nova"})
	}
	there := func() entry {
		return entry{"there": entry{"services": []string{}, "names": []string{}, "users": []entry{}, "endpoints": []entry{}, "released": false}}
	}
	var group sync.WaitGroup
	for range 2 {
		group.Go(func() {
			if _, _, err := k.register("prod", there(), map[string]string{}); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if diff := cmp.Diff([]string{"admin"}, k.names("users", "name")); diff != "" {
		t.Errorf("users (-want +got):\n%s", diff)
	}
}

// TestQueueGone checks that the script deletes the virtual hosts that removed services of this
// cloud have left behind, with their users, and no others.
func TestQueueGone(t *testing.T) {
	var writes []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			writes = append(writes, r.Method+" "+r.URL.EscapedPath())
			w.WriteHeader(http.StatusNotFound) // another run was faster
			return
		}
		_ = json.NewEncoder(w).Encode([]entry{
			{"name": "/"},
			{"name": "theirs", "description": "Managed by kolla: prod2/nova"},
			{"name": "old", "description": "made by kolla"},
			{"name": "nova", "description": "Managed by kolla: prod/nova"},
			{"name": "cell/1", "description": "Managed by kolla: prod/cell"},
			{"name": "taken", "description": "Managed by kolla: prod/cell"},
		})
	}))
	defer server.Close()
	admin := filepath.Join(t.TempDir(), "admin")
	if err := os.WriteFile(admin, []byte("admin's"), 0o600); err != nil {
		t.Fatal(err)
	}
	output, err := python(t, "rabbitmq/queue.py", "MANAGEMENT_URL="+server.URL, "ADMIN_PASSWORD_FILE="+admin, "OWNER=prod",
		`THERE={"services": ["nova"], "names": ["nova", "taken"], "users": [], "endpoints": [], "released": false}`)
	if err != nil || !strings.Contains(output, "cell/1 deleted") {
		t.Errorf("%v", err)
	}
	if diff := cmp.Diff([]string{"DELETE /api/users/cell%2F1", "DELETE /api/vhosts/cell%2F1"}, writes); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

// TestQueue checks that queue.py creates a virtual host and its user, tries again while the server
// starts, and fails if the server refuses it.
func TestQueue(t *testing.T) {
	var got []string
	busy, password := 1, "admin's"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, given, _ := r.BasicAuth()
		switch {
		case name != "admin" || given != password:
			w.WriteHeader(http.StatusUnauthorized)
			return
		case busy > 0:
			busy--
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		var body map[string]string
		_ = json.NewDecoder(r.Body).Decode(&body)
		got = append(got, fmt.Sprint(r.Method, " ", r.URL.EscapedPath(), " ", body["password"]+body["configure"]+body["description"]))
		w.WriteHeader(http.StatusCreated)
	}))
	defer server.Close()
	dir := t.TempDir()
	for name, text := range map[string]string{"admin": "admin's", "nova": "hers"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := func() (string, error) {
		return python(t, "rabbitmq/queue.py", "MANAGEMENT_URL="+server.URL, "ADMIN_PASSWORD_FILE="+filepath.Join(dir, "admin"), "QUEUE=nova/cell", "OWNER=prod/nova", "PASSWORD_FILE="+filepath.Join(dir, "nova"))
	}
	if _, err := run(); err != nil {
		t.Fatal(err)
	}
	want := []string{"PUT /api/vhosts/nova%2Fcell Managed by kolla: prod/nova", "PUT /api/users/nova%2Fcell hers", "PUT /api/permissions/nova%2Fcell/nova%2Fcell .*"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	password = "another"
	if output, err := run(); err == nil || !strings.Contains(output, "RabbitMQ refuses") || strings.Contains(output, "admin's") {
		t.Errorf("with a wrong password: %v", err)
	}
}

// TestDefaultRoles checks that every API decides by the default roles of OpenStack, so that a reader can
// change nothing, and believes a service that speaks for a user only if it has the role service.
func TestDefaultRoles(t *testing.T) {
	for _, dir := range []string{"images", "servers", "stacks"} {
		for _, release := range releases.Names() {
			options := stackOptions(inRelease(t, filepath.Join("testdata", dir), release))
			apis := map[string]bool{"keystone keystone.conf": true}
			for option := range options {
				if file, found := strings.CutSuffix(option, " keystone_authtoken www_authenticate_uri"); found {
					apis[file] = true
					if options[file+" keystone_authtoken service_token_roles_required"] != "true" {
						t.Errorf("%s, %s: any service speaks for users", release, file)
					}
				}
			}
			if len(apis) < 4 {
				t.Errorf("%s has only the APIs %v", dir, apis)
			}
			for file := range apis {
				if options[file+" oslo_policy enforce_new_defaults"] != "true" {
					t.Errorf("%s, %s: former defaults of policies are in force", release, file)
				}
			}
			scope := "true"
			if release >= "2026.2" { // all services enforce it
				scope = ""
			}
			if dir == "images" && options["barbican barbican-api.conf oslo_policy enforce_scope"] != scope {
				t.Errorf("%s: Barbican takes tokens of any scope", release)
			}
		}
	}
}
