package providers

import (
	"context"
	"net/url"
	"strings"
)

// Registration is what a Job registers with Keystone. The manifest of the Job has the same in
// another form.
type Registration struct {
	Keystone InternalURL `json:"keystone"`
	// Username is the name of an administrator, and Password the key of the Secret with the
	// password.
	Username string    `json:"username"`
	Password SecretKey `json:"password"`
	Region   string    `json:"region"`
	// Owner is CLOUD/SERVICE. If it is empty, only the existence and the URLs of endpoints are
	// compared.
	Owner     string               `json:"owner,omitempty"`
	Users     []RegisteredUser     `json:"users,omitempty"`
	Roles     []string             `json:"roles,omitempty"`
	Endpoints []RegisteredEndpoint `json:"endpoints,omitempty"`
}

// RegisteredUser is a user in Keystone.
type RegisteredUser struct {
	Name   string `json:"name"`
	Domain string `json:"domain"`
	// Project is the project in which the user has its roles; empty: it has them for its domain.
	Project string   `json:"project,omitempty"`
	Roles   []string `json:"roles,omitempty"`
}

// RegisteredEndpoint is a service in Keystone's catalogue, with the URLs of its endpoints.
type RegisteredEndpoint struct {
	Type     string `json:"type"`
	Name     string `json:"name"`
	Internal string `json:"internal"`
	Public   string `json:"public"`
}

// InternalURL is the URL of a Service of Kubernetes.
type InternalURL struct {
	Scheme    string `json:"scheme"` // "http" or "https"
	Namespace string `json:"namespace"`
	Service   string `json:"service"`
	Port      string `json:"port"` // a number
	Path      string `json:"path,omitempty"`
}

// ParseInternalURL parses a URL whose host is SERVICE.NAMESPACE, perhaps with more labels behind. ok
// is false for any other host.
func ParseInternalURL(text string) (u InternalURL, ok bool) {
	parsed, err := url.Parse(text)
	if err != nil || parsed.Scheme != "http" && parsed.Scheme != "https" {
		return u, false
	}
	labels := strings.Split(parsed.Hostname(), ".")
	if len(labels) < 2 || len(labels) > 2 && labels[2] != "svc" {
		return u, false
	}
	port := parsed.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[parsed.Scheme]
	}
	return InternalURL{Scheme: parsed.Scheme, Namespace: labels[1], Service: labels[0], Port: port, Path: strings.TrimSuffix(parsed.Path, "/")}, true
}

// ProxyName returns the name under which the API server passes requests on to the Service: a rule of
// a Role names it.
func (u InternalURL) ProxyName() string { return u.Scheme + ":" + u.Service + ":" + u.Port }

// Difference is a difference between a Registration and what Keystone has.
type Difference struct {
	// Path names the entry and its attribute: `endpoints["image/internal/RegionOne"].url`.
	Path string
	// Declared is the declared value, and Live the value in Keystone. Nil: there is none.
	Declared, Live any
}

// Registrar compares registrations with what Keystone has. Several goroutines may use it.
type Registrar interface {
	// Compare returns the differences, sorted by path. If Keystone could not be read, the error is
	// an *UncomparedError. All other errors end the plan.
	Compare(ctx context.Context, r *Registration) ([]Difference, error)
}

// UncomparedError reports that a Registration could not be compared.
type UncomparedError struct {
	Why    string // "Keystone does not answer: connection refused"
	Advice string // how to get an answer; may be empty
}

func (e *UncomparedError) Error() string { return e.Why }

// CatalogueEndpoint is an endpoint in Keystone's catalogue.
type CatalogueEndpoint struct {
	Type, Name string // of its service: "image", "glance"
	Interface  string // "internal"
	Region     string
	URL        string
	Disabled   bool // the endpoint or its service: clients do not see it
}
