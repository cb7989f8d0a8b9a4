package configs

import (
	"cmp"
	"path"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// Service is one use of a definition, with the overrides applied.
type Service struct {
	// Block is the address of the block, or of its instance: `service.keystone`,
	// `module.edge.service.redis["cache"]`.
	Block string
	// Name is the name of the service in the cluster, unique in the configuration.
	Name       string
	Definition string
	DefinedAt  hcl.Range // the definition
	// Stage is the part of an upgrade in which the service changes: one of Stages but the first.
	Stage string
	// External: the service exists outside of the cloud. It has outputs and given secrets, and
	// nothing else.
	External bool
	Role     string // default role of its workloads; empty: any node
	Exposure string // name of an exposure; empty: reachable from inside only
	// Needs are the addresses ("service.mariadb") of the services, manifests and shared
	// secrets that must be ready before any pod of this service runs. They come from
	// references and depends_on. Sorted, without the service itself.
	Needs []string
	// Reasons has one entry for each of Needs.
	Reasons   []Reason
	Ports     []Port
	Databases []Database
	Provided  []Provided // queues, users, and their registration with the endpoints
	// Cleanups remove from this service the databases, queues and users of deleted services.
	Cleanups  []Job
	Secrets   []Secret
	Configs   []ConfigFile
	Jobs      []Job
	Workloads []Workload
	Endpoints []Endpoint
	// NetworkPolicy: only services that refer to this service, clients outside for exposed
	// ports, and clients in Allows may connect to its pods.
	NetworkPolicy bool
	Allows        []Allow
	Patches       []Patch // of its objects, the weakest first
	// Labels and Annotations are added to all of its objects.
	Labels, Annotations map[string]string
	// Outputs are the values that other services read as service.NAME.OUTPUT. Generated
	// secrets in them are tokens.
	Outputs map[string]cty.Value
	// Lifecycle applies to all objects of the service but its workloads. Each workload has a
	// Lifecycle of its own.
	Lifecycle Lifecycle
	// Undecided: a value that had to be known is not, so that parts of the service may be
	// missing here. See Config.Undecided.
	Undecided bool
	Range     hcl.Range // of the service block
	// ImagesRange is the place of its argument images, or of the block.
	ImagesRange hcl.Range
}

// Passwords returns the passwords of the databases, queues and users of the service.
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

// Listeners returns the workloads with a container that listens on a port.
func (s *Service) Listeners(port string) []Workload {
	var out []Workload
	for _, w := range s.Workloads {
		if slices.Contains(w.Pod.Ports, port) {
			out = append(out, w)
		}
	}
	return out
}

// HTTPReadiness returns the readiness probe of the workload behind a port, or of one of its
// sidecars, if the probe uses plain HTTP on the same port. Nil: there is none, and the protocol of
// the port is unknown.
func (s *Service) HTTPReadiness(port string) *Probe {
	for _, w := range s.Listeners(port) {
		probes := []*Probe{w.Ready}
		for _, init := range w.Pod.Inits {
			probes = append(probes, init.Ready)
		}
		for _, p := range probes {
			if p != nil && p.HTTP != "" && !p.TLS && p.Port == port {
				return p
			}
		}
	}
	return nil
}

// SpeaksHTTP reports whether a port is known to speak plain HTTP: it has an endpoint, or a readiness
// probe.
func (s *Service) SpeaksHTTP(p Port) bool {
	endpoint := slices.ContainsFunc(s.Endpoints, func(e Endpoint) bool { return e.Port == p.Name })
	return !p.UDP && (endpoint || s.HTTPReadiness(p.Name) != nil)
}

// Port is a port of the service's Kubernetes Service.
type Port struct {
	Name     string
	Number   int
	UDP      bool // TCP otherwise
	Exposed  bool // reachable from outside if the service has an exposure
	NodePort int  // 0: chosen by the cluster
	Public   int  // number at the exposure; 0: Number
	TLS      bool // an exposure with TLS encrypts it
	Range    hcl.Range
}

// AtExposure returns the number of the port at the exposure.
func (p Port) AtExposure() int { return cmp.Or(p.Public, p.Number) }

// Protocol returns the protocol in the words of Kubernetes: TCP or UDP.
func (p Port) Protocol() string {
	if p.UDP {
		return "UDP"
	}
	return "TCP"
}

// Scheme returns the beginning of a URL of the port for clients in the cluster. See Exposure.Scheme.
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
	Server   string // name of the service with the database
	Password SecretRef
	// Source is the source of the password; nil: generated.
	Source *SecretSource
	// Jobs create the database. They come from the server's `provides "database"` block,
	// evaluated for this database.
	Jobs  []Job
	Range hcl.Range
}

// Endpoint is an entry in Keystone's catalogue.
type Endpoint struct {
	Type   string // "identity"
	Server string // name of the service with the catalogue
	Name   string // "keystone"
	Port   string
	Path   string
}

// Allow names more clients that may connect to the pods of a service. At least one of
// Namespace, Pods and CIDRs is set.
type Allow struct {
	Name      string
	Ports     []int             // TCP
	UDP       []int             // ports
	Namespace string            // of the pods; empty: the cloud's
	Pods      map[string]string // labels; none: all pods of Namespace
	CIDRs     []string
	Range     hcl.Range
}

// Patch is a part of an object that is merged over objects of a service.
type Patch struct {
	Kind   string
	Name   string // pattern of path.Match; a hash at the end of the name is left out
	Object map[string]any
	Layer  string // "definition", "cloud" or "service"
	Label  hcl.Range
	Range  hcl.Range // of Object
	Places Places    // of the values in Object
}

// Matches reports whether the patch applies to an object.
func (p Patch) Matches(kind, name string) bool {
	matched, _ := path.Match(p.Name, name)
	return matched && p.Kind == kind
}

// Place returns the place of a field of the patch, or of the nearest part around the field.
func (p Patch) Place(field string) hcl.Range { return placeOf(p.Places, field, p.Range) }

// Provided is a queue or user that a service has on another service, or its registration in
// Keystone.
type Provided struct {
	Type   string // "queue", "user", "registration"
	Label  string // of the block; empty for a registration
	Name   string // on the server
	Domain string // of a user
	Server string // name of the other service
	// Password is the secret with the password; a registration has none.
	Password SecretRef
	// Source is the source of the password; nil: generated.
	Source *SecretSource
	// Jobs create it. They come from the server's `provides` block. The jobs of users belong to
	// the registration.
	Jobs  []Job
	Range hcl.Range
}

// Password is the password of a database, queue or user on another service.
type Password struct {
	SecretRef
	Source *SecretSource // nil: generated
}
