package configs

import "github.com/hashicorp/hcl/v2"

// Job runs once for a given set of inputs.
type Job struct {
	Name string
	When string // "before" or "after" the workloads, or "check": before anything that runs changes
	// Runs says when the job runs again: empty, after any change of its inputs; "release" and
	// "upgrade", with another image; "once", never; "rotation", after the keys of
	// a mounted secret rotated. With "upgrade" it does not run with the first image of the service,
	// and with "rotation" not with the first keys.
	Runs     string
	Attempts int   // number of retries before the job fails
	Fatal    []int // exit codes with which the job fails at once, in order
	Timeout  int   // seconds; 0: no limit
	// Nodes is the role whose nodes the job gets as a list; empty: all nodes, nil: no list.
	Nodes *string
	Pod   Pod
	// Registers is what the job registers with Keystone; nil: nothing, or it is not known yet.
	Registers *Registration
	// MakesDatabase is the database that the job makes; nil: none, or it is not known yet.
	MakesDatabase *MadeDatabase
	// MapsCells is the cells that the job makes known to Nova; nil: none, or they are not known yet.
	MapsCells *MappedCells
	// MakesQueue is the virtual host that the job makes in RabbitMQ; nil: none, or it is not known yet.
	MakesQueue *MadeQueue
	Range      hcl.Range
}

// MadeQueue is a virtual host that a job makes in RabbitMQ, and a user of the same name.
type MadeQueue struct {
	Server PodServer
	Name   string
	Owner  string // CLOUD/SERVICE; empty: the job marks nothing as its own
	// UserPassword is the secret with the user's password; nil: it is not compared.
	UserPassword *SecretRef
}

// MappedCells is the cells that a job makes known to Nova.
type MappedCells struct {
	Server   PodServer
	Database string // of Nova's API
	Cells    []MappedCell
}

// MappedCell is a cell of Nova.
type MappedCell struct {
	Name                             string
	UUID                             string // empty: any
	TransportURL, DatabaseConnection Text   // nil: any
}

// MadeDatabase is a database that a job makes, with its user.
type MadeDatabase struct {
	Server       PodServer
	Name         string
	CharacterSet string // empty: as it is
	User         string // empty: none
	// UserPassword is the secret with the user's password; nil: it is not compared.
	UserPassword *SecretRef
	Privileges   []string // in the words of GRANT
}

// PodServer says how to log in to a server in pods.
type PodServer struct {
	Addresses []string // of its pods, POD.SERVICE.NAMESPACE:PORT, in the order in which they are asked
	Username  string   // of an administrator
	Password  SecretRef
}

// Registration is what a job registers with Keystone.
type Registration struct {
	URL       string    // of Keystone for clients in the cluster: "http://keystone.openstack:5000/v3"
	Username  string    // of an administrator
	Password  SecretRef // of the administrator
	Region    string
	Owner     string // CLOUD/SERVICE; empty: the job marks nothing as its own
	Users     []RegisteredUser
	Roles     []string
	Endpoints []RegisteredEndpoint
}

// RegisteredUser is a user in Keystone.
type RegisteredUser struct {
	Name    string
	Domain  string
	Project string // in which it has its roles; empty: it has them for its domain
	Roles   []string
}

// RegisteredEndpoint is a service in Keystone's catalogue, with its endpoints in a region.
type RegisteredEndpoint struct {
	Type, Name       string
	Internal, Public string // URLs
}

// Workload is a Deployment, StatefulSet or DaemonSet.
type Workload struct {
	Name     string // "api"
	Kind     string // "Deployment", "StatefulSet", "DaemonSet"
	Role     string // empty: the role of the service
	Replicas int    // 0 for a DaemonSet
	Loss     string // consequence for others while no pod runs; may be empty
	// ScaleDown explains how to remove pods of a StatefulSet, if an apply must not.
	ScaleDown string
	// OwnAddresses: each pod of a StatefulSet has a Service of its own.
	OwnAddresses bool
	Update       string // "rolling", or "on-delete": a pod changes when somebody deletes it
	// RolloutFirst: kolla rollout replaces the pods before those of other workloads.
	RolloutFirst bool
	// MaxUnavailable and Surge limit the missing and the additional pods of a rollout: a number
	// or a share such as "25%"; empty: the default.
	MaxUnavailable, Surge string
	OneByOne              bool     // a StatefulSet starts a pod when all pods before it are ready
	After                 []string // workloads of the service that roll out first
	// Stage is the part of an upgrade in which the workload changes: one of Stages but the first; empty: that
	// of the service.
	Stage string
	// Follows are definitions. When all their workloads run new images, the pods start once more.
	Follows []string
	// DataVersion is the version of the program that has the data of the pods; nil: it is not declared.
	DataVersion *DataVersion
	// Drain is the number of seconds that a pod continues to serve after the signal to stop. It
	// is a part of the grace period.
	Drain   int
	Timeout int // seconds that an apply waits for the workload; 0: the default
	// SpreadBy is the label of nodes by which the pods are spread; empty: the name of the node.
	// SpreadRequired: two pods never share a place.
	SpreadBy       string
	SpreadRequired bool
	Pod            Pod
	Logs           string // where the main container writes its log: "console", "files"; empty or "oslo": with oslo.log
	Claims         []Claim
	Ready          *Probe
	Live           *Probe
	Startup        *Probe
	// Carries prints what stops working with the pods, one item a line. Leave removes what the
	// pods leave on their nodes. Both may be nil.
	Carries, Leave *PodCommand
	// Metrics says where the pods serve metrics; nil: they serve none.
	Metrics *Metrics
	// Backup says how the data are saved and brought back; nil: kolla does not save them.
	Backup *Backup
	// Lifecycle is merged from the definition, the service and its workload block.
	Lifecycle Lifecycle
	Range     hcl.Range
}

// Pod is the common part of jobs and workloads.
type Pod struct {
	Image        string // Kolla image name, or a full reference if it holds a slash
	Start        string // "direct" or "kolla" (the start script of the image)
	Command      []string
	Args         []string
	Env          []Env    // sorted by name
	User         int      // uid and gid, fixed by Kolla; 0: see Root
	Ports        []string // of all containers
	Configs      []string // names of mounted config blocks
	Mounts       []SecretMount
	Volumes      []Volume
	Writable     []string          // paths with an emptyDir
	WritableSize string            // limit of each of them and of /tmp; empty: the provider decides
	Inits        []Init            // in the order of their start, with the sidecars
	Requests     map[string]string // "cpu", "memory"
	Limits       map[string]string
	GracePeriod  int // seconds to stop before the kill; 0: the cluster's default
	HostNetwork  bool
	HostPID      bool
	HostIPC      bool
	Powers       // of the main container
	// Labels and Annotations are added to the pods.
	Labels, Annotations map[string]string
	Priority            string       // name of a PriorityClass; empty: the cluster's default
	Tolerations         []Toleration // in addition to the taints of its role
	// ServiceLinks: the environment has the variables of Kubernetes for Services.
	ServiceLinks bool
}

// Env is an environment variable.
type Env struct {
	Name  string
	Value Text
	Range hcl.Range
}

// SecretMount puts all keys of a secret into a directory.
type SecretMount struct {
	Service string // the service of the secret; empty: a shared secret
	Secret  string // as in a SecretRef
	Path    string
}

// Claim is a volume of every replica of a StatefulSet.
type Claim struct {
	Name         string
	Path         string
	Size         string // Kubernetes quantity; empty: not known yet
	StorageClass string // empty: the cluster's default
	// Existing is the name of a claim that exists already, in place of a new one. Size and
	// StorageClass have no effect then.
	Existing string

	Range hcl.Range // of the size; in the catalogue: zero
}

// Probe tests a container by one of HTTP, TCP and Exec.
type Probe struct {
	HTTP    string // path
	TLS     bool   // of HTTP
	Headers map[string]string
	Port    string // name of a port, for HTTP and TCP
	TCP     bool
	Exec    []string
	Period  int // seconds
	Timeout int // seconds
	Retries int // number of failures in a row that make the probe fail
	Delay   int // seconds before the first try
}

// Init is an init container or a sidecar. An init container has the files, directories and
// environment of the main container too. A sidecar runs as long as the pod.
type Init struct {
	Name     string
	Sidecar  bool
	Image    string // empty: the main container's
	User     int    // 0: the user of the main container, or see Root
	Command  []string
	Args     []string
	Env      []Env // sorted by name
	Configs  []string
	Mounts   []SecretMount
	Volumes  []Volume // in addition to the volumes of the pod
	Ports    []string // this field and the following belong to sidecars
	Writable []string
	Logs     string // where it writes its log: "oslo", "files"; empty or "console": it only prints
	Requests map[string]string
	Limits   map[string]string
	Ready    *Probe
	Live     *Probe
	Startup  *Probe
	Powers
}

// Powers are the additional rights of a container.
type Powers struct {
	Root         bool // runs as user 0 instead of the user of the image
	Privileged   bool
	Capabilities []string // without CAP_
	WritableRoot bool
	// Seccomp and AppArmor are "unconfined" or "localhost/NAME"; empty: the runtime's profile.
	Seccomp, AppArmor string
	SELinux           string // type; empty: the runtime's
	Reason            string // purpose; may be empty
	// Unsettled: the user or the reason is not known yet, so that checks do not apply.
	Unsettled bool
}

// Metrics is a place with metrics for Prometheus.
type Metrics struct {
	Port string // name of a port
	Path string
	Pace
}

// Pace says how often a Prometheus reads metrics, and how long it waits for them.
type Pace struct {
	Interval, Timeout int // seconds; 0: the Prometheus decides
}

// PodCommand is a command that kolla runs in the pods of a workload.
type PodCommand struct {
	What      string   // the things that it lists or removes, in a few words: "running servers"
	Container string   // empty: the main container
	Command   []string // with arguments, without a shell
	Timeout   int      // seconds in a pod
}

// Backup has the commands that save the data of a StatefulSet and bring them back.
type Backup struct {
	What      string   // the data, in a few words: "databases"
	Container string   // empty: the main container
	Save      []string // writes the data to standard output
	Stage     []string // puts the data from standard input aside
	Restore   []string // puts the staged data into use
	// Offline: the workload does not run during Restore. Stage and Restore run in other pods with
	// its claims.
	Offline  bool
	Mismatch string // what does not fit together after a restore, in sentences; may be empty
}

// Toleration lets pods run on nodes with a taint.
type Toleration struct {
	Key      string // empty: any
	Operator string // "Equal", "Exists"
	Value    string
	Effect   string // empty: any
}

// Volume is mounted in containers. One of Host, Claim, Memory, Shared and Secret is set.
type Volume struct {
	Name        string
	Path        string // in the containers
	Host        string // path on the node
	Type        string // of Host: "directory", "file", "socket", "device"
	Create      bool   // create a missing Host
	Propagation string // of Host: "in", "both"; empty: none
	Claim       string // name of a PersistentVolumeClaim
	Memory      string // size, a Kubernetes quantity
	Shared      string // size
	Secret      string // name of a Secret; containers see new values without a restart
	ReadOnly    bool

	Range hcl.Range
}

// DataVersion is the version of a program that converts its data when it starts.
type DataVersion struct {
	Program, Version string
	From             []string // other versions whose data it takes over; nil: all
	Detail           string   // how to get there from other versions; may be empty
}
