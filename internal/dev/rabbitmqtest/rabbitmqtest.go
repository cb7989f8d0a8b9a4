// Package rabbitmqtest has a server that answers as the management API of RabbitMQ does, as far as package
// providers/rabbitmq and the job queue.py use it. Its content is a [Database].
package rabbitmqtest

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
)

// Entry is a virtual host, a user, or permissions, with its attributes.
type Entry map[string]any

// Database is the content of a server.
type Database struct {
	// Password is that of the user admin.
	Password string `json:"password"`
	// Status answers all requests; 0: they succeed.
	Status int                `json:"status"`
	Lists  map[string][]Entry `json:"lists"` // by kind: "vhosts", "users", "permissions"
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

// Hash returns the hash that RabbitMQ stores of a password.
func Hash(password string) string {
	const salt = "\x90\x8d\xc6\x0a"
	sum := sha256.Sum256([]byte(salt + password))
	return base64.StdEncoding.EncodeToString(append([]byte(salt), sum[:]...))
}

// Server answers requests.
type Server struct {
	// Read returns the content. The server changes it with PUT.
	Read func() (*Database, error)
	// Note is called with each request, "GET /api/vhosts".
	Note func(request string) error

	mu sync.Mutex
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d, err := s.Read()
	if err == nil && s.Note != nil {
		err = s.Note(r.Method + " " + r.URL.RequestURI())
	}
	user, password, _ := r.BasicAuth()
	parts := strings.Split(strings.TrimPrefix(r.URL.EscapedPath(), "/api/"), "/")
	for i := range parts {
		parts[i], _ = url.PathUnescape(parts[i])
	}
	switch {
	case err != nil:
		http.Error(w, err.Error(), http.StatusInternalServerError)
	case d.Status != 0:
		http.Error(w, http.StatusText(d.Status), d.Status)
	case user != "admin" || password != d.Password:
		http.Error(w, `{"error":"not_authorized","reason":"Not_Authorized"}`, http.StatusUnauthorized)
	case r.Method == http.MethodGet && len(parts) == 1 && d.Lists[parts[0]] != nil:
		answer(w, d.Lists[parts[0]], strings.Split(r.URL.Query().Get("columns"), ","))
	case r.Method == http.MethodPut:
		put(w, r, d, parts)
	default:
		http.Error(w, `{"error":"Object Not Found"}`, http.StatusNotFound)
	}
}

// answer writes a list, with some of its columns.
func answer(w http.ResponseWriter, list []Entry, columns []string) {
	out := []Entry{}
	for _, e := range list {
		cut := Entry{}
		for _, column := range columns {
			if value, ok := e[column]; ok {
				cut[column] = value
			}
		}
		out = append(out, cut)
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(out)
}

// put creates or changes an entry.
func put(w http.ResponseWriter, r *http.Request, d *Database, parts []string) {
	var body Entry
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	switch kind := parts[0]; {
	case kind == "vhosts" && len(parts) == 2:
		d.merge(kind, body, Entry{"name": parts[1]})
	case kind == "users" && len(parts) == 2:
		password, _ := body["password"].(string)
		d.merge(kind, Entry{"password_hash": Hash(password), "hashing_algorithm": "rabbit_password_hashing_sha256", "tags": []any{}}, Entry{"name": parts[1]})
	case kind == "permissions" && len(parts) == 3 && d.Find("vhosts", "name", parts[1]) != nil && d.Find("users", "name", parts[2]) != nil:
		d.merge(kind, body, Entry{"vhost": parts[1], "user": parts[2]})
	default:
		http.Error(w, `{"error":"Object Not Found"}`, http.StatusNotFound)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// merge changes the entry with the attributes of key, or adds it.
func (d *Database) merge(kind string, attributes, key Entry) {
	at := slices.IndexFunc(d.Lists[kind], func(e Entry) bool {
		for name, value := range key {
			if e[name] != value {
				return false
			}
		}
		return true
	})
	if at < 0 {
		d.Lists[kind] = append(d.Lists[kind], key)
		at = len(d.Lists[kind]) - 1
	}
	for name, value := range attributes {
		d.Lists[kind][at][name] = value
	}
}
