package configs

import "github.com/hashicorp/hcl/v2"

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

// Init is a step that runs in the pod before its main container, or a sidecar, which
// starts there and lives as long as the pod. A step has the files, directories and
// environment of the main container, too.
type Init struct {
	Name     string
	Sidecar  bool
	Image    string // empty: the main container's
	User     int    // 0: the main container's, unless Root
	Command  []string
	Args     []string
	Env      []Env // sorted by name
	Configs  []string
	Mounts   []SecretMount
	Volumes  []Volume // besides those of the pod
	Ports    []string // and the following are a sidecar's
	Writable []string
	Requests map[string]string
	Limits   map[string]string
	Ready    *Probe
	Live     *Probe
	Startup  *Probe
	Powers
}

// Powers are what a container may do beyond others.
type Powers struct {
	Root         bool // it runs as user 0, and not as the one that its image names
	Privileged   bool
	Capabilities []string // without CAP_
	WritableRoot bool
	// Seccomp and AppArmor are "unconfined" or "localhost/NAME"; empty: the profile of the
	// container runtime.
	Seccomp, AppArmor string
	SELinux           string // type; empty: the container runtime's
	Reason            string // what they are for; empty: it is not said
	// Unsettled: the user or the reason is not known yet, so that nothing can be said
	// against them.
	Unsettled bool
}

// PodCommand is a command that kolla runs in the pods of a workload.
type PodCommand struct {
	What      string   // what it names, or takes away, in a few words: "running servers"
	Container string   // where it runs; empty: the main container
	Command   []string // it and its arguments; there is no shell
	Timeout   int      // seconds that it may take in a pod
}

// Toleration lets pods run on nodes with a taint, as Kubernetes has it.
type Toleration struct {
	Key      string // empty: any
	Operator string // "Equal", "Exists"
	Value    string
	Effect   string // empty: any
}

// Volume is something that is mounted in containers: one of Host, Claim, Memory and Shared.
type Volume struct {
	Name        string
	Path        string // in the containers
	Host        string // path of the node
	Type        string // of Host: "directory", "file", "socket", "device"
	Create      bool   // Host, where it is missing
	Propagation string // of Host: "in", "both"; empty: none
	Claim       string // name of a PersistentVolumeClaim
	Memory      string // size, a Kubernetes quantity
	Shared      string // likewise
	ReadOnly    bool

	Range hcl.Range
}
