package configs

import (
	"cmp"
	"path"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// Service is one use of a definition, with the overrides applied.
type Service struct {
	// Block is the address of the block, or of its instance: `service.keystone`,
	// `module.edge.service.redis["cache"]`.
	Block string
	// Name is what the service is called in the cluster, unique in the configuration.
	Name       string
	Definition string
	DefinedAt  hcl.Range // the definition
	// External: it is there already. It has outputs and the secrets that it was told,
	// and nothing else.
	External bool
	Role     string // default role of its workloads; empty: any node
	Exposure string // name of an exposure; empty: reachable from inside only
	// Needs lists the services, manifests and secrets beside the services, by their
	// addresses ("service.mariadb"), that must be ready before anything of this one
	// runs: what its expressions refer to, and depends_on. Sorted, without the service
	// itself.
	Needs []string
	// Reasons say why, one for each of Needs.
	Reasons   []Reason
	Ports     []Port
	Databases []Database
	Provided  []Provided // queues, users, and the registration of them and of the endpoints
	// Cleanups take away from this service what others had on it that are gone.
	Cleanups  []Job
	Secrets   []Secret
	Configs   []ConfigFile
	Jobs      []Job
	Workloads []Workload
	Endpoints []Endpoint
	// NetworkPolicy: only those who refer to it, those outside for exposed ports, and
	// those of Allows may connect to its pods.
	NetworkPolicy bool
	Allows        []Allow
	Patches       []Patch // of its objects, the weakest first
	// Labels and Annotations are on all of its objects, besides kolla's own.
	Labels, Annotations map[string]string
	// Outputs are what other services read as service.NAME.OUTPUT. Values of
	// generated secrets in them can only be read with TextOf.
	Outputs map[string]cty.Value
	// Lifecycle is for all objects of the service but those of its workloads, which
	// have their own.
	Lifecycle Lifecycle
	// Undecided: something of it had to be known and is not, so that what is missing here
	// may still come. See Config.Undecided.
	Undecided bool
	Range     hcl.Range // of the service block
}

// Passwords are the passwords of the databases, queues and users of the service.
func (s *Service) Passwords() []Password {
	var out []Password
	for _, d := range s.Databases {
		out = append(out, Password{d.Password, d.Source})
	}
	for _, p := range s.Provided {
		if p.Password.Secret != "" {
			out = append(out, Password{p.Password, p.Source})
		}
	}
	return out
}

// Port is a port of the service's Kubernetes Service.
type Port struct {
	Name     string
	Number   int
	UDP      bool // TCP otherwise
	Exposed  bool // open to the outside when the service has an exposure
	NodePort int  // 0: chosen by the cluster
	Public   int  // number at the exposure; 0: Number
	Range    hcl.Range
}

// AtExposure is the number that clients connect to at the exposure.
func (p Port) AtExposure() int { return cmp.Or(p.Public, p.Number) }

// Protocol is what is spoken on the port, as Kubernetes writes it: TCP or UDP.
func (p Port) Protocol() string {
	if p.UDP {
		return "UDP"
	}
	return "TCP"
}

// scheme is how a URL of the port begins.
func (p Port) Scheme() string {
	if p.UDP {
		return "udp://"
	}
	return "http://"
}

// Database is a database with its user on a database service.
type Database struct {
	Name     string // on its server
	User     string
	Server   string // name of the service it lives on
	Password SecretRef
	// Source is where the password comes from; nil: it is generated.
	Source *SecretSource
	// Jobs create it; they come from the server's `provides "database"` block,
	// evaluated for this database.
	Jobs  []Job
	Range hcl.Range
}

// Endpoint is an entry in Keystone's catalogue.
type Endpoint struct {
	Type   string // "identity"
	Server string // name of the service that it is registered with
	Name   string // "keystone"
	Port   string
	Path   string
}

// Allow is somebody who may connect to the pods of a service, besides those that refer
// to it. At least one of Namespace, Pods and CIDRs is set.
type Allow struct {
	Name      string
	Ports     []int             // TCP
	UDP       []int             // ports, too
	Namespace string            // of the pods; empty: the cloud's
	Pods      map[string]string // labels; none: all pods of Namespace
	CIDRs     []string
	Range     hcl.Range
}

// Patch is a part of an object that is merged over objects of a service.
type Patch struct {
	Kind   string
	Name   string // pattern of path.Match; of names that carry a hash it is about the rest
	Object map[string]any
	Layer  string // "definition", "cloud" or "service"
	Label  hcl.Range
	Range  hcl.Range // of Object
	// Places are where the parts of Object are written, by their path in it, such as
	// ".spec.ports[0].name".
	Places map[string]hcl.Range
}

// Matches reports whether the patch is meant for an object.
func (p Patch) Matches(kind, name string) bool {
	matched, _ := path.Match(p.Name, name)
	return matched && p.Kind == kind
}

// Place is where a part of the patch is written, or else the part that it is in.
func (p Patch) Place(field string) hcl.Range {
	for field != "" {
		if at, ok := p.Places[field]; ok {
			return at
		}
		field = field[:max(strings.LastIndexAny(field, ".["), 0)]
	}
	return p.Range
}

// Provided is something that a service has on another one: a queue, a user in Keystone,
// or the registration of all that Keystone has to know of it.
type Provided struct {
	Type   string // "queue", "user", "registration"
	Label  string // of the block; empty for a registration
	Name   string // on the server
	Domain string // of a user
	Server string // name of the service that it is on
	// Password is the secret with the password; a registration has none.
	Password SecretRef
	// Source is where the password comes from; nil: it is generated.
	Source *SecretSource
	// Jobs make it; they come from the server's `provides` block. Those of users are the
	// registration's.
	Jobs  []Job
	Range hcl.Range
}

// Password is the password of something that another service provides.
type Password struct {
	SecretRef
	Source *SecretSource // nil: it is generated
}
