package lang

import (
	"encoding/json"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/lang/addrs"
)

// Config is a whole configuration, evaluated: every expression is a value, every
// service has its definition merged with its overrides. What cannot be known
// before apply (generated secrets) is a reference inside a Text.
//
// Slices are in a fixed order (declaration order by file name and position), so
// that everything made from a Config is deterministic. The Range of what only the
// catalogue declares is empty; an Origin says where in the catalogue.
type Config struct {
	Cloud     Cloud
	Roles     []Role
	Exposures []Exposure
	Secrets   []SharedSecret // beside the services
	Services  []Service
	Manifests []Manifest
	Moves     []addrs.Move
	Removals  []addrs.Removal
	Imports   []addrs.Import
	// Undeclared are the imports to blocks that nothing declares; see Options.
	Undeclared []addrs.Import
	// Refused are the variables whose values, which Options.Prompt gave, do not meet their
	// conditions, with the reason. That is among the diagnostics, too.
	Refused map[string]string
	// Unset are the variables that have no value, in order; see Options.
	Unset   []string
	Outputs []Output // of the root
	Checks  []Check  // of all modules
	Data    []Data
	// Undecided are blocks of which something depends on what is known only after the
	// apply, and has to be known before. A plan that Options.Restricted is made for
	// leaves them out; of any other that is an error. They are without keys, and
	// "module.edge.*" stands for all in that module.
	Undecided []string

	// Digest identifies the configuration: a hash over all files and over the
	// values of all variables (sensitive ones only by name).
	Digest string
	// Variables are the values, with their types, of the variables of the root that are
	// not sensitive, and of which nothing secret is made.
	Variables map[string]json.RawMessage
	// Files holds the sources that diagnostics quote, by file name.
	Files map[string]*hcl.File
}

// Cloud is the one cloud block.
type Cloud struct {
	Name     string
	Release  string // OpenStack release, "2025.1"
	Distro   string // distribution part of image tags, "rocky-9"
	Registry string // "quay.io/openstack.kolla"
	Prefix   string // put before every image name; usually empty
	Tag      string // of the images; empty: RELEASE-DISTRO
	// Images are full references by names of images, or by patterns of path.Match; "*" in
	// a reference stands for the name.
	Images      map[string]string
	PullSecrets []string // names of existing Secrets of type dockerconfigjson
	Namespace   string
	Region      string
	Foreign     string // what becomes of fields that others add: "revert", "report", "ignore"
	PodSecurity string // "restricted", "baseline", "privileged"; empty: what the services need
	// NetworkPolicy: only those who have a reason to may connect to the pods of services,
	// where the service does not say otherwise.
	NetworkPolicy bool
	Range         hcl.Range
}

// Exposure is how chosen services become reachable from outside.
type Exposure struct {
	Block string // address
	Name  string // unique in the configuration
	VIP   string // IP address
	FQDN  string // empty: clients use the VIP
	Mode  string // "nodeport"
	Role  string // name of the role over whose nodes traffic is spread; empty: any node
	// NodePorts is the range that the cluster gives to node ports, inclusive.
	NodePorts [2]int
	Range     hcl.Range
}

// Host is the name, else the address, that outside clients use.
func (e Exposure) Host() string {
	if e.FQDN != "" {
		return e.FQDN
	}
	return e.VIP
}

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

// ConfigFile is one file of a service.
type ConfigFile struct {
	Name   string // block label, "keystone.conf"; also the key in its ConfigMap
	Format string // "ini", "properties" or "raw", which files in YAML and JSON are too
	Path   string // where the service reads it
	// SecretPath is where the part with secret values goes, when the service
	// merges a second file by itself (oslo.config directories); empty: a file
	// with any secret in it becomes a Secret as a whole.
	SecretPath string
	Options    []Option // formats "ini" and "properties": sorted by section (DEFAULT first) and key
	// Partial: there are, or may be, more options, which cannot be evaluated or are known
	// only after the apply.
	Partial bool
	Mode    int    // permissions; 0: what is usual
	Content Text   // format "raw"
	Origin  Origin // of Content
	Range   hcl.Range
}

// Option is one value of an INI or properties file. A list of several values is a
// repeated key.
type Option struct {
	Section string // empty in a properties file
	Key     string
	Values  []Text
	Origin  Origin
	// Overrides are the values that this one took the place of, strongest first.
	Overrides []Override
}

// Origin says which layer gave a value, and where: in a *.hcl file, or for the layer
// "directory" in a file of the config directory.
type Origin struct {
	Layer string // "definition", "cloud", "directory", "service"
	Range hcl.Range
	// Key and Section are where their names are written; of a value in a map that is
	// computed they are empty.
	Key, Section hcl.Range
}

// KeyRange is where the key is written; where it is not, the value is.
func (o Origin) KeyRange() hcl.Range { return firstRange(o.Key, o.Range) }

// SectionRange is where the section is written; where it is not, the key or the value is.
func (o Origin) SectionRange() hcl.Range { return firstRange(o.Section, o.Key, o.Range) }

// firstRange is the first of the places that is one.
func firstRange(places ...hcl.Range) hcl.Range {
	for _, at := range places {
		if at.Filename != "" {
			return at
		}
	}
	return hcl.Range{}
}

// Job is something that runs once for a given set of inputs.
type Job struct {
	Name string
	When string // "before" or "after" the workloads
	// Runs says when it runs again: empty, with any change of what it runs with; "release"
	// and "upgrade", with another image; "once", never. With "upgrade" it does not run
	// with the image that the service is deployed with first.
	Runs     string
	Attempts int // how often a failing pod is tried again before the job fails
	Timeout  int // seconds that it may take; 0: any time
	// Nodes is the role whose nodes it is told of; empty: all nodes, nil: none.
	Nodes *string
	Pod   Pod
	Range hcl.Range
}

// Workload is something that runs all the time.
type Workload struct {
	Name     string // "api"
	Kind     string // "Deployment", "StatefulSet", "DaemonSet"
	Role     string // empty: the service's
	Replicas int    // of a DaemonSet: 0, its nodes decide
	Loss     string // what follows for others while none of it runs; may be empty
	// ScaleDown says how pods of a StatefulSet are taken away where an apply must not do it.
	ScaleDown string
	// OwnAddresses: each pod of a StatefulSet has a Service of its own.
	OwnAddresses bool
	Update       string // "rolling", or "on-delete": pods change only when someone deletes them
	// MaxUnavailable is how many pods may be missing while they are replaced, and Surge how
	// many may be there beyond: a number or a share such as "25%"; empty: as usual.
	MaxUnavailable, Surge string
	OneByOne              bool     // a StatefulSet starts each pod when those before it are ready
	After                 []string // workloads of the service that have to have rolled out before
	// Drain is for how many seconds a pod goes on serving after it was told to
	// stop; they are part of the grace period, and shorter.
	Drain   int
	Timeout int // seconds that an apply waits until it is ready; 0: as for all
	// SpreadBy is the label that tells the places apart over which the pods are spread;
	// empty: nodes. SpreadRequired: no two of them are ever in one place.
	SpreadBy       string
	SpreadRequired bool
	Pod            Pod
	Claims         []Claim
	Ready          *Probe
	Live           *Probe
	Startup        *Probe
	// Carries prints what is cut off with the pods, one item a line. Leave takes away what
	// outlives them on their nodes. Either may be nil.
	Carries, Leave *PodCommand
	// Lifecycle is what the definition, the service and its workload block say, in one.
	Lifecycle Lifecycle
	Range     hcl.Range
}

// Pod is what jobs and workloads have in common.
type Pod struct {
	Image        string // Kolla image name, or a full reference if it holds a slash
	Start        string // "direct" or "kolla" (the image's own start contract)
	Command      []string
	Args         []string
	Env          []Env    // sorted by name
	User         int      // uid and gid; Kolla's fixed numbers. 0: Root says
	Ports        []string // of all containers
	Configs      []string // names of config blocks that are mounted
	Mounts       []SecretMount
	Volumes      []Volume
	Writable     []string          // paths that get an emptyDir
	WritableSize string            // the most that each of them, and /tmp, may hold; empty: the provider decides
	Inits        []Init            // in the order in which they start, sidecars among them
	Requests     map[string]string // "cpu", "memory"
	Limits       map[string]string
	GracePeriod  int // seconds that it gets to stop before it is killed; 0: the cluster's default
	HostNetwork  bool
	HostPID      bool
	HostIPC      bool
	Powers       // of the main container
	// Labels and Annotations are those of the pods, besides kolla's own.
	Labels, Annotations map[string]string
	Priority            string       // name of a PriorityClass; empty: the cluster's default
	Tolerations         []Toleration // besides those for the taints of its role
	// ServiceLinks: the environment has the variables that Kubernetes makes of Services.
	ServiceLinks bool
}

// Env is one environment variable.
type Env struct {
	Name  string
	Value Text
	Range hcl.Range
}

// SecretMount puts all keys of a secret into a directory.
type SecretMount struct {
	Service string // whose definition declares it; empty: it stands beside the services
	Secret  string // as in a SecretRef
	Path    string
}

// Claim is a volume that every replica of a StatefulSet gets and keeps.
type Claim struct {
	Name         string
	Path         string
	Size         string // Kubernetes quantity; empty: not known yet
	StorageClass string // empty: the cluster's default
}

// Probe is one of HTTP, TCP and Exec.
type Probe struct {
	HTTP    string // path
	TLS     bool   // of HTTP
	Headers map[string]string
	Port    string // name of a port, for HTTP and TCP
	TCP     bool
	Exec    []string
	Period  int // seconds
	Timeout int // seconds
	Retries int // failures in a row that count as failed
	Delay   int // seconds before the first try
}

// Endpoint is an entry in Keystone's catalogue.
type Endpoint struct {
	Type   string // "identity"
	Server string // name of the service that it is registered with
	Name   string // "keystone"
	Port   string
	Path   string
}

// Manifest is Kubernetes objects brought as they are.
type Manifest struct {
	Block     string // address
	Name      string
	Reason    string // what its pods have powers for; empty: it is not said
	Objects   []ManifestObject
	Needs     []string
	Reasons   []Reason // one for each of Needs
	Lifecycle Lifecycle
	Range     hcl.Range
}

// ManifestObject is one object of a manifest.
type ManifestObject struct {
	// Content is as decoded from YAML or HCL; numbers are int64 or float64.
	Content map[string]any
	// Deferred are the data that have to be read before all of it is known: until then
	// KnownAfterApply stands in Content for what depends on them.
	Deferred []string
	Range    hcl.Range // of the document in its file, or of the object attribute
}
