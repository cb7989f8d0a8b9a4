// Package openstacktest has a server that answers as OpenStack's APIs do, as far as kolla check uses them. All
// services are at one address, each below a path with its type.
package openstacktest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Entry is a thing of a service.
type Entry map[string]any

// Cloud is a server. A test changes it between requests.
type Cloud struct {
	*httptest.Server
	// Lists are the things by service and kind: "network/routers".
	Lists map[string][]Entry
	// Breaks answers requests that begin with a key, such as "GET /image/v2/images".
	Breaks map[string]func(http.ResponseWriter, *http.Request)
	// Catalogue are the types with an endpoint.
	Catalogue []string
	// Careless: lists have the things of all projects, whatever the query says.
	Careless bool
	// Trespass are the requests that changed things of other projects.
	Trespass []string
	// Polls is how often clients see a thing in a state such as "creating", or after its removal.
	Polls int
	// Page is how many projects are in one list; 0: all.
	Page int

	mu     sync.Mutex
	files  map[string]string  // contents of images and secrets by ID
	change map[string]*change // of things by ID
	next   int
}

// change is what happens to a thing after some more polls.
type change struct {
	polls int
	make  func()
}

// Of starts a cloud for a test.
func Of(t testing.TB, password string) *Cloud {
	o := Start(password)
	t.Cleanup(o.Close)
	return o
}

// Start starts a cloud that has what an operator made: images, flavors, an external network. password is that of the
// administrator. Close ends it.
func Start(password string) *Cloud {
	o := &Cloud{
		Polls: 2, files: map[string]string{}, change: map[string]*change{}, Breaks: map[string]func(http.ResponseWriter, *http.Request){},
		Catalogue: []string{"image", "network", "compute", "block-storage", "key-manager", "orchestration"},
		Lists: map[string][]Entry{
			"identity/projects": {{"id": "p-admin", "name": "admin", "description": ""}},
			"identity/users":    {{"id": "u-admin", "name": "admin", "password": password}, {"id": "u-glance", "name": "glance", "password": "of-glance"}},
			"identity/roles":    {{"id": "r-admin", "name": "admin"}, {"id": "r-member", "name": "member"}},
			"image/images": {
				{"id": "i-large", "name": "large", "owner": "p-admin", "visibility": "public", "status": "active", "disk_format": "qcow2", "size": 3 << 30},
				{"id": "i-cd", "name": "cd", "owner": "p-admin", "visibility": "public", "status": "active", "disk_format": "iso", "size": 10},
				{"id": "i-small", "name": "small", "owner": "p-admin", "visibility": "public", "status": "active", "disk_format": "qcow2", "size": 20 << 20, "min_disk": 2},
			},
			"compute/flavors": {
				{"id": "f-large", "name": "large", "ram": 4096, "disk": 40, "vcpus": 4},
				{"id": "f-tiny", "name": "tiny", "ram": 64, "disk": 1, "vcpus": 1},
				{"id": "f-fits", "name": "fits", "ram": 128, "disk": 2, "vcpus": 1},
			},
			"network/networks":        {{"id": "n-external", "name": "external", "project_id": "p-admin", "router:external": true}},
			"network/security-groups": {{"id": "g-admin", "name": "default", "project_id": "p-admin"}},
		},
	}
	o.Server = httptest.NewServer(o)
	return o
}

// Owned are the things that are in a project, by service and kind, and the projects of checks.
func (o *Cloud) Owned() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	var out []string
	for kind, list := range o.Lists {
		for _, e := range list {
			switch {
			case kind == "identity/projects" || kind == "identity/users":
				if strings.HasPrefix(fmt.Sprint(e["name"]), "kolla-check-") {
					out = append(out, kind+" "+fmt.Sprint(e["name"]))
				}
			case e.project() != "" && e.project() != "p-admin":
				out = append(out, kind+" of "+e.project())
			}
		}
	}
	slices.Sort(out)
	return out
}

func (e Entry) project() string {
	for _, key := range []string{"project_id", "owner"} {
		if id, ok := e[key].(string); ok {
			return id
		}
	}
	return ""
}

// ServeHTTP implements http.Handler. A token is "token/PROJECT/ROLE".
func (o *Cloud) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	o.mu.Lock()
	defer o.mu.Unlock()
	request := r.Method + " " + r.URL.Path
	for begin, answer := range o.Breaks {
		if strings.HasPrefix(request, begin) {
			answer(w, r)
			return
		}
	}
	o.Serve(w, r)
}

// Serve answers a request as if nothing were broken, for Breaks.
func (o *Cloud) Serve(w http.ResponseWriter, r *http.Request) {
	body := Entry{}
	if r.Header.Get("Content-Type") == "application/json" {
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			o.Refuse(w, "identity", http.StatusBadRequest, err.Error())
			return
		}
	}
	path := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	switch path[0] {
	case "login":
		http.Redirect(w, r, "/page/?next=/", http.StatusFound)
		return
	case "page":
		_, _ = io.WriteString(w, `<form><input name="username"><input name="password"></form>`)
		return
	case "v3":
		path[0] = "identity"
	default:
		path = slices.DeleteFunc(path, func(s string) bool { return s == "v2" || s == "v2.0" || s == "v1" })
	}
	if r.URL.Path == "/v3/auth/tokens" {
		o.logIn(w, body)
		return
	}
	token := strings.Split(r.Header.Get("X-Auth-Token"), "/")
	if len(token) != 3 || !o.knows(token[1]) {
		o.Refuse(w, "identity", http.StatusUnauthorized, "The request you have made requires authentication.")
		return
	}
	if path[0] == "orchestration" { // the project is in the URL
		if len(path) < 2 || path[1] != token[1] {
			o.Trespass = append(o.Trespass, r.Method+" "+r.URL.Path)
			o.Refuse(w, path[0], http.StatusForbidden, "You are not authorized to complete this action.")
			return
		}
		path = slices.Delete(path, 1, 2)
	}
	o.serve(w, r, path, body, token[1], token[2] == "admin")
}

// Answer writes an answer in JSON.
func (o *Cloud) Answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Openstack-Request-Id", "req-1")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

// Refuse answers a request in the way of a service.
func (o *Cloud) Refuse(w http.ResponseWriter, service string, status int, text string) {
	title := http.StatusText(status)
	switch service {
	case "identity":
		o.Answer(w, status, Entry{"error": Entry{"code": status, "title": title, "message": text}})
	case "image":
		o.Answer(w, status, Entry{"code": fmt.Sprint(status, " ", title), "title": title, "message": text + "<br /><br />\n\n\n"})
	case "network":
		o.Answer(w, status, Entry{"NeutronError": Entry{"type": title, "message": text, "detail": ""}})
	case "key-manager":
		o.Answer(w, status, Entry{"code": status, "title": title, "description": text})
	case "orchestration":
		o.Answer(w, status, Entry{"code": status, "title": title, "explanation": "The request failed.", "error": Entry{"type": title, "message": text, "traceback": nil}})
	default: // Nova and Cinder
		kinds := map[int]string{http.StatusBadRequest: "badRequest", http.StatusForbidden: "forbidden", http.StatusNotFound: "itemNotFound", http.StatusConflict: "conflictingRequest"}
		o.Answer(w, status, Entry{cmp.Or(kinds[status], "computeFault"): Entry{"code": status, "message": text}})
	}
}

// later changes a thing after some polls.
func (o *Cloud) later(id string, make func()) { o.change[id] = &change{o.Polls, make} }

// polled counts that a client has seen a thing.
func (o *Cloud) polled(e Entry) {
	id := fmt.Sprint(e["id"])
	c := o.change[id]
	if c == nil {
		return
	}
	if c.polls--; c.polls <= 0 {
		delete(o.change, id)
		c.make()
	}
}

// logIn answers a login with a password.
func (o *Cloud) logIn(w http.ResponseWriter, body Entry) {
	var auth struct {
		Auth struct {
			Identity struct {
				Password struct {
					User struct{ Name, Password string }
				}
			}
			Scope struct{ Project struct{ ID, Name string } }
		}
	}
	text, _ := json.Marshal(body)
	_ = json.Unmarshal(text, &auth)
	given, scope := auth.Auth.Identity.Password.User, auth.Auth.Scope.Project
	at := slices.IndexFunc(o.Lists["identity/users"], func(e Entry) bool { return e["name"] == given.Name && e["password"] == given.Password })
	if at < 0 {
		o.Refuse(w, "identity", http.StatusUnauthorized, "The request with password "+given.Password+" requires authentication.")
		return
	}
	user := o.Lists["identity/users"][at]
	project, role := scope.ID, "member"
	if scope.Name == "admin" {
		project, role = "p-admin", "admin"
	} else if !o.knows(project) || project != "" && !strings.Contains(o.files["roles"+project], fmt.Sprint(user["id"])) {
		o.Refuse(w, "identity", http.StatusUnauthorized, "no role")
		return
	}
	var catalogue []Entry
	for _, kind := range o.Catalogue {
		url := o.URL + "/" + kind
		if kind == "orchestration" {
			if project == "" {
				continue
			}
			url += "/v1/" + project
		}
		catalogue = append(catalogue, Entry{"type": kind, "endpoints": []Entry{
			{"interface": "public", "region_id": "RegionOne", "url": url},
			{"interface": "internal", "region_id": "RegionOne", "url": "http://inside"},
			{"interface": "public", "region_id": "elsewhere", "url": "http://elsewhere"},
		}})
	}
	w.Header().Set("X-Subject-Token", "token/"+project+"/"+role)
	answer := Entry{"user": Entry{"id": user["id"], "domain": Entry{"id": "default"}}, "catalog": catalogue}
	if project != "" {
		answer["project"] = Entry{"id": project, "domain": Entry{"id": "default"}}
	}
	o.Answer(w, http.StatusCreated, Entry{"token": answer})
}

// one is the key of a thing of a kind in JSON; empty: the thing is the whole document.
func one(kind string) string {
	if kind == "image/images" || kind == "key-manager/secrets" {
		return ""
	}
	_, name, _ := strings.Cut(kind, "/")
	return strings.TrimSuffix(strings.ReplaceAll(name, "-", "_"), "s")
}

// serve answers a request of a user for a project. path is the service, the kind, and the rest.
func (o *Cloud) serve(w http.ResponseWriter, r *http.Request, path []string, body Entry, project string, admin bool) {
	if len(path) < 2 {
		o.Answer(w, http.StatusNotFound, nil)
		return
	}
	kind, rest := path[0]+"/"+path[1], path[2:]
	switch {
	case kind == "identity/projects" && len(rest) > 0 && !o.knows(rest[0]):
		o.Refuse(w, path[0], http.StatusNotFound, "Could not find project: "+rest[0])
	case kind == "identity/projects" && len(rest) == 5: // a role
		o.files["roles"+rest[0]] += rest[2] + " "
		o.Answer(w, http.StatusNoContent, nil)
	case len(rest) >= 2 && rest[1] == "file" && r.Method == http.MethodPut:
		content, _ := io.ReadAll(r.Body)
		o.files[rest[0]] = string(content)
		o.find(kind, rest[0])["status"] = "active"
		o.Answer(w, http.StatusNoContent, nil)
	case len(rest) >= 2 && (rest[1] == "file" || rest[1] == "payload"):
		_, _ = io.WriteString(w, o.files[rest[0]])
	case kind == "compute/servers" && len(rest) == 2 && rest[1] == "action":
		o.console(w, rest[0])
	case kind == "block-storage/volumes" && len(rest) == 2 && rest[1] == "action":
		o.reset(w, r, rest[0], body, admin)
	case len(rest) >= 2 && rest[1] == "os-volume_attachments":
		o.attach(w, r, body, rest)
	case len(rest) >= 2 && strings.HasSuffix(rest[1], "router_interface"):
		o.plug(w, rest, project)
	case kind == "network/floatingips" && r.Method == http.MethodPut:
		o.associate(w, rest[0], body)
	case r.Method == http.MethodPost:
		o.create(w, kind, body, project)
	case r.Method == http.MethodDelete:
		o.remove(w, r, kind, rest, project, admin)
	case r.Method == http.MethodPatch:
		maps.Copy(o.find(kind, rest[0]), body["project"].(map[string]any))
		o.Answer(w, http.StatusOK, Entry{})
	case len(rest) > 0 && rest[0] != "detail":
		o.show(w, kind, rest)
	default:
		o.list(w, r, kind, project, admin)
	}
}

// knows reports whether Keystone has a project, or none is meant.
func (o *Cloud) knows(project string) bool {
	return project == "" || len(o.find("identity/projects", project)) > 0
}

func (o *Cloud) find(kind, id string) Entry {
	for _, e := range o.Lists[kind] {
		if e["id"] == id {
			return e
		}
	}
	return Entry{}
}

// shown is a thing as its service shows it. Barbican's things have no ID but in their URL.
func shown(kind string, e Entry) Entry {
	if kind != "key-manager/secrets" {
		return e
	}
	out := maps.Clone(e)
	delete(out, "id")
	delete(out, "payload")
	return out
}

func (o *Cloud) show(w http.ResponseWriter, kind string, rest []string) {
	found := o.find(kind, rest[len(rest)-1])
	service, _, _ := strings.Cut(kind, "/")
	switch {
	case len(found) == 0:
		o.Refuse(w, service, http.StatusNotFound, "not found")
	case one(kind) == "":
		o.Answer(w, http.StatusOK, shown(kind, found))
	default:
		o.Answer(w, http.StatusOK, Entry{one(kind): found})
	}
	o.polled(found)
}

// No TCP connection to silent is possible, and nobody listens on port 9 of refusing. A floating IP has the second address
// as soon as it has a port.
const (
	silent   = "224.0.0.1"
	refusing = "127.0.0.1"
)

// associate gives a floating IP to a port.
func (o *Cloud) associate(w http.ResponseWriter, id string, body Entry) {
	found := o.find("network/floatingips", id)
	maps.Copy(found, body["floatingip"].(map[string]any))
	found["floating_ip_address"] = refusing
	o.Answer(w, http.StatusOK, Entry{"floatingip": found})
}

// list lists things. Neutron and Glance also list those of others, unless the query says whose.
func (o *Cloud) list(w http.ResponseWriter, r *http.Request, kind, project string, admin bool) {
	query := r.URL.Query()
	if kind == "network/security-groups" {
		o.defaultGroup(query.Get("project_id"))
	}
	found := []Entry{}
	for _, e := range o.Lists[kind] {
		fits := true
		for key, values := range query {
			if o.Careless && (key == "project_id" || key == "owner") {
				continue
			}
			if value, has := e[key]; has && fmt.Sprint(value) != values[0] {
				fits = false
			}
			if key == "name__startswith" && !strings.HasPrefix(fmt.Sprint(e["name"]), values[0]) {
				fits = false
			}
			if _, has := e[key]; !has && (key == "device_id" || key == "router:external" || key == "visibility" || key == "owner") {
				fits = false
			}
		}
		public := kind == "network/networks" || kind == "image/images" || kind == "compute/flavors"
		if fits && (admin || public || e.project() == "" || e.project() == project) {
			found = append(found, e)
		}
	}
	if strings.HasPrefix(query.Get("sort"), "size") {
		slices.SortFunc(found, func(a, b Entry) int { return a["size"].(int) - b["size"].(int) })
	}
	_, name, _ := strings.Cut(kind, "/")
	links := Entry{"self": r.URL.Path}
	if kind == "identity/projects" && o.Page > 0 {
		found = found[1+slices.IndexFunc(found, func(e Entry) bool { return e["id"] == query.Get("marker") }):]
		if len(found) > o.Page {
			found = found[:o.Page]
			query.Set("marker", fmt.Sprint(found[o.Page-1]["id"]))
			links["next"] = o.URL + r.URL.Path + "?" + query.Encode()
		}
	}
	items := []Entry{}
	for _, e := range found {
		items = append(items, shown(kind, e))
	}
	// As Glance, Keystone and Barbican do.
	o.Answer(w, http.StatusOK, Entry{strings.ReplaceAll(name, "-", "_"): items, "schema": "/v2/schemas/" + name, "links": links, "total": len(items)})
	for _, e := range found {
		o.polled(e)
	}
}
