package providers

import (
	"cmp"
	"context"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Registration is what a Job registers on servers of other services. The manifest of the Job has the
// same in another form. Nil fields: nothing there.
type Registration struct {
	Keystone *KeystoneRegistration `json:"keystone,omitempty"`
	Database *DatabaseRegistration `json:"database,omitempty"`
	Cells    *CellRegistration     `json:"cells,omitempty"`
	Queue    *QueueRegistration    `json:"queue,omitempty"`
}

// Servers returns the servers that a plan reads through forwarded ports.
func (r *Registration) Servers() []PodServer {
	var all []PodServer
	if r.Database != nil {
		all = append(all, r.Database.Server)
	}
	if r.Cells != nil {
		all = append(all, r.Cells.Server)
	}
	if r.Queue != nil {
		all = append(all, r.Queue.Server)
	}
	return all
}

// KeystoneRegistration is what a Job registers with Keystone.
type KeystoneRegistration struct {
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

// DatabaseRegistration is a database that a Job makes on a server of MariaDB, with its user.
type DatabaseRegistration struct {
	Server       PodServer `json:"server"`
	Name         string    `json:"name"`
	CharacterSet string    `json:"character_set,omitempty"` // of new tables; empty: not compared
	// User may log in from everywhere; empty: the Job makes none.
	User string `json:"user,omitempty"`
	// Password is the key of the Secret with the user's password; zero: it is not compared.
	Password SecretKey `json:"password,omitzero"`
	// Privileges are those of the user for the database, in the words of GRANT: "SELECT".
	Privileges []string `json:"privileges,omitempty"`
}

// AllPrivileges stands for all privileges that a server knows, but to grant them to others.
const AllPrivileges = "ALL PRIVILEGES"

// CellRegistration is the cells that a Job makes known to Nova.
type CellRegistration struct {
	Server   PodServer        `json:"server"`
	Database string           `json:"database"` // of Nova's API
	Cells    []RegisteredCell `json:"cells"`
}

// RegisteredCell is a cell in the database of Nova's API.
type RegisteredCell struct {
	Name string `json:"name"`
	UUID string `json:"uuid,omitempty"` // empty: the cell is found by its name
	// TransportURL and DatabaseConnection are as Nova stores them; nil: not compared.
	TransportURL       []DataPart `json:"transport_url,omitempty"`
	DatabaseConnection []DataPart `json:"database_connection,omitempty"`
}

// QueueRegistration is a virtual host that a Job makes in RabbitMQ, and a user of the same name who may do
// everything in it.
type QueueRegistration struct {
	Server PodServer `json:"server"` // its management API
	Name   string    `json:"name"`
	// Owner is CLOUD/SERVICE, which the Job puts on the virtual host. If it is empty, the description is
	// not compared.
	Owner string `json:"owner,omitempty"`
	// Password is the key of the Secret with the user's password; zero: it is not compared.
	Password SecretKey `json:"password,omitzero"`
}

// PodServer says how to log in to a server in pods.
type PodServer struct {
	// Members are the pods of the server. A plan asks them in this order, until a pod answers.
	Members  []PodPort `json:"members"`
	Username string    `json:"username"`
	Password SecretKey `json:"password"`
}

// PodPort is a port on which a pod listens.
type PodPort struct {
	Namespace string `json:"namespace"`
	Pod       string `json:"pod"`
	Port      int    `json:"port"`
}

// ParsePodPort parses POD.SERVICE.NAMESPACE:PORT, as the pods of a StatefulSet are called, perhaps with
// more labels behind. ok is false for any other text.
func ParsePodPort(text string) (p PodPort, ok bool) {
	host, number, err := net.SplitHostPort(text)
	labels := strings.Split(host, ".")
	port, wrong := strconv.ParseUint(number, 10, 16)
	if err != nil || wrong != nil || port == 0 || len(labels) < 3 || len(labels) > 3 && labels[3] != "svc" || slices.Contains(labels, "") {
		return p, false
	}
	return PodPort{Namespace: labels[2], Pod: labels[0], Port: int(port)}, true
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
	port := cmp.Or(parsed.Port(), map[string]string{"http": "80", "https": "443"}[parsed.Scheme])
	return InternalURL{Scheme: parsed.Scheme, Namespace: labels[1], Service: labels[0], Port: port, Path: strings.TrimSuffix(parsed.Path, "/")}, true
}

// ProxyName returns the name under which the API server passes requests on to the Service: a rule of
// a Role names it.
func (u InternalURL) ProxyName() string { return u.Scheme + ":" + u.Service + ":" + u.Port }

// Difference is a difference between a Registration and what a server has.
type Difference struct {
	// Server is the product that has the entry: "Keystone".
	Server string
	// Path names the entry and its attribute: `endpoints["image/internal/RegionOne"].url`.
	Path string
	// Declared is the declared value, and Live the value on the server. Nil: there is none.
	Declared, Live any
	// Secret: the values are secret, and Declared and Live are nil.
	Secret bool
}

// Registrar compares registrations with what servers have. Several goroutines may use it.
type Registrar interface {
	// Compare returns the differences, sorted by path. If a server could not be read, the error is
	// an *UncomparedError. All other errors end the plan.
	Compare(ctx context.Context, r *Registration) ([]Difference, error)
}

// Registrars compares registrations with what several kinds of servers have. Each Registrar ignores the
// parts of the others.
type Registrars []Registrar

// Compare implements Registrar.
func (all Registrars) Compare(ctx context.Context, r *Registration) ([]Difference, error) {
	var found []Difference
	for _, registrar := range all {
		more, err := registrar.Compare(ctx, r)
		if err != nil {
			return nil, err
		}
		found = append(found, more...)
	}
	return found, nil
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
