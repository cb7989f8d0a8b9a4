package schema

import "slices"

// How the pods of a workload stop, in a definition and in a service.
var (
	gracePeriodAttribute = Attribute{Name: "grace_period", Type: TypeNumber, Max: 86400, Doc: "Seconds that a pod gets to stop, those of drain among them; by default what the cluster gives, which is 30."}
	drainAttribute       = Attribute{Name: "drain", Type: TypeNumber, Max: 86400, Doc: "Seconds that a pod goes on serving after it was told to stop: as long as it takes until no node sends it new connections. Shorter than grace_period. By default 5 for a Deployment with ports, whose other pods take over, and otherwise 0. Needs Kubernetes 1.30."}
)

// WorkloadType describes the block `workload`.
var WorkloadType = &BlockType{
	Name: "workload", Label: "workload", LabelForm: formName,
	Doc: "Something that runs all the time.",
	Example: `definition "status" {
  port "http" {
    number = 8080
  }

  config "status.conf" {
    path   = "/etc/status.conf"
    values = { DEFAULT = { listen = port.http } }
  }

  workload "worker" {
    kind            = "Deployment"
    replicas        = 8
    max_unavailable = "25%"
    surge           = 2
    image           = "registry.example.org/status:1"
    command         = ["status", "work"]
  }

  workload "web" {
    kind         = "StatefulSet"
    after        = ["worker"]
    order        = "one-by-one"
    role         = "control"
    replicas     = 2
    max_replicas = 5
    update       = "rolling"
    timeout      = 900
    grace_period = 90
    drain        = 15
    loss         = "nobody sees how the cloud is"
    scale_down   = "Move what status-web-N knows to another pod first: kubectl exec status-web-N -- status hand-over."
    priority     = "system-cluster-critical"
    tolerations  = [{ key = "example.org/maintenance", operator = "Exists" }]
    spread       = "required"
    spread_by    = "topology.kubernetes.io/zone"
    image        = "registry.example.org/status:1"
    ports        = ["http"]
    config       = ["status.conf"]

    own_addresses = true

    init "prepare" {
      command = ["status", "prepare"]
    }

    claim "data" {
      path          = "/var/lib/status"
      size          = "10Gi"
      storage_class = "fast"
    }
  }
}
`,
	Attributes: conditional(slices.Concat([]Attribute{
		{Name: "kind", Type: TypeString, Required: true, OneOf: kinds, Doc: "Deployment: pods that are alike. StatefulSet: pods with a name and volumes of their own. DaemonSet: one pod on every node of the role."},
		{Name: "role", Type: TypeRole, Doc: "Nodes that it runs on; by default the service's."},
		{Name: "replicas", Type: TypeNumber, Default: 1, Max: maxReplicas, Doc: "How many pods, unless the service says otherwise."},
		{Name: "max_replicas", Type: TypeNumber, Min: 1, Max: maxReplicas, Doc: "How many it can cope with at most."},
		{Name: "update", Type: TypeString, Default: "rolling", OneOf: updates, Doc: "rolling: pods are replaced when something changes. on-delete: only when a rollout is asked for, or someone deletes them."},
		waitTimeoutAttribute, gracePeriodAttribute, drainAttribute,
		{Name: "loss", Type: TypeString, Doc: "What follows for others while none of it runs, as the end of a sentence: \"running servers lose their network\". It is then held like data: no plan deletes it, or deletes it to make it again, unless -delete-data names it."},
		{Name: "scale_down", Type: TypeString, Doc: "How pods of a StatefulSet are taken away where an apply cannot do it, as whole sentences: \"Each member has to leave the cluster first: ...\". A plan with fewer pods than there are is refused in these words."},
		{Name: "ports", Type: TypeList, Names: "port", Doc: "Names of the ports that it listens on."},
		{Name: "own_addresses", Type: TypeBool, Default: false, Doc: "Whether each pod of a StatefulSet has a Service of its own, SERVICE-WORKLOAD-NUMBER.NAMESPACE, whose address stays when the pod is made again: for clients that have to reach a certain pod and resolve no names."},
	}, rolloutAttributes, placementAttributes, podAttributes, NamespaceAttributes, PowerAttributes, []Attribute{ReasonAttribute}, podMarks, mountAttributes)),
	Blocks: []*BlockType{
		InitType,
		SidecarType,
		{
			Name: "claim", Label: "volume", LabelForm: formName,
			Doc: "A volume that each pod of a StatefulSet gets and keeps.",
			Attributes: conditional([]Attribute{
				{Name: "path", Type: TypeString, Required: true, Form: formPath, Doc: "Where it is mounted."},
				{Name: "size", Type: TypeString, Required: true, Form: formQuantity, Doc: "How big it is."},
				{Name: "storage_class", Type: TypeString, Form: FormSubdomain, Doc: "Storage class; by default the cluster's default one."},
			}),
		},
		MountType,
		VolumeType,
		resourcesType,
		LifecycleType,
		carriesType,
		leaveType,
		startupProbeType,
		readyProbeType,
		liveProbeType,
	},
}

const leavingExample = `definition "probe" {
  workload "agent" {
    kind         = "DaemonSet"
    image        = "registry.example.org/probe:1"
    user         = 42999
    host_network = true
    loss         = "nobody measures the guests of the node"
    reason       = "It measures the network of the node."

    # One item a line.
    carries {
      what    = "running guests"
      command = ["probe", "guests", "--names"]
    }

    leave {
      what      = "taps of guests"
      container = "taps"
      command   = ["taps", "delete", "--all"]
      timeout   = 120
    }

    sidecar "taps" {
      image   = "registry.example.org/taps:1"
      user    = 42998
      command = ["taps", "serve"]
    }
  }
}
`

var (
	whatAttribute      = Attribute{Name: "what", Type: TypeString, Required: true}
	containerAttribute = Attribute{Name: "container", Type: TypeString, Doc: "The sidecar that it runs in; by default the main container."}
	commandAttribute   = Attribute{Name: "command", Type: TypeList, Required: true}
)

// carriesType and leaveType are blocks of a workload.
var (
	carriesType = &BlockType{
		Name: "carries", Single: true,
		Doc:     "Names what users lose when the pods go. A plan that takes the workload away, or refuses to, asks each running pod with this command, and names the answers node by node. For a DaemonSet or StatefulSet.",
		Example: leavingExample,
		Attributes: conditional([]Attribute{
			with(whatAttribute, "What the items are, in a few words: \"running servers\"."),
			containerAttribute,
			with(commandAttribute, "Command that prints one item a line, and changes nothing. It has ten seconds."),
		}),
	}
	leaveType = &BlockType{
		Name: "leave", Single: true,
		Doc:     "How a pod leaves its node for good. The command runs in each running pod right before kolla deletes the workload: by a destroy, or because its service or its block is gone. It does not run where pods are only replaced, nor where a node leaves the role. A pod that cannot run it is told of at the end, and stops nothing. It may run several times. For a DaemonSet or StatefulSet.",
		Example: leavingExample,
		Attributes: conditional([]Attribute{
			with(whatAttribute, "What it takes away, in a few words: \"bridges and ports\". It is named for each node that could not be cleaned."),
			containerAttribute,
			with(commandAttribute, "Command that takes away what outlives the pod, and ends with 0 also where nothing is left to do."),
			{Name: "timeout", Type: TypeNumber, Default: 60, Min: 1, Max: maxTimeout, Doc: "Seconds that it may take in each pod."},
		}),
	}
)

// with is an attribute with a description.
func with(a Attribute, doc string) Attribute {
	a.Doc = doc
	return a
}

var whenAttribute = Attribute{Name: "when", Type: TypeString, Default: "before", OneOf: []string{"before", "after"}, Doc: "Before or after the workloads."}

var attemptsAttribute = Attribute{Name: "attempts", Type: TypeNumber, Default: 6, Max: 100, Doc: "How often a pod that failed is tried again."}

// JobType describes the block `job`.
var JobType = &BlockType{
	Name: "job", Label: "job", LabelForm: formName,
	Doc: "Something that runs once, and again when its image, its config or its secrets change, unless `runs` says otherwise. Jobs run one after the other, in the order in which they are written.",
	Example: `definition "status" {
  job "migrate" {
    when          = "after"
    attempts      = 3
    timeout       = 1800
    nodes         = "compute"
    image         = "registry.example.org/status:1"
    user          = 42999
    start         = "direct"
    command       = ["status"]
    args          = ["migrate", "--online"]
    env           = { REGION = cloud.region }
    writable      = ["/var/lib/status"]
    writable_size = "1Gi"
    labels        = { "example.org/kind" = "migration" }
    annotations   = { "example.org/owner" = "status" }
    host_network  = false
    service_links = false
  }

  # Looks at the data before another release takes them over.
  job "upgrade-check" {
    runs    = "upgrade"
    image   = "registry.example.org/status:1"
    command = ["status", "upgrade-check"]
  }
}
`,
	Attributes: conditional(slices.Concat([]Attribute{whenAttribute, runsAttribute, attemptsAttribute, jobTimeoutAttribute, nodesAttribute}, podAttributes, NamespaceAttributes, PowerAttributes, []Attribute{ReasonAttribute}, podMarks, mountAttributes)),
	Blocks:     []*BlockType{MountType, VolumeType, resourcesType},
}

var runsAttribute = Attribute{Name: "runs", Type: TypeString, Default: "change", OneOf: []string{"change", "release", "upgrade", "once"}, Doc: "When it runs again. change: when its image, its config or its secrets are other ones. release: when its image is another one. upgrade: as release, but not with the image that the service is deployed with first. once: never. One that failed runs again in any case; see [Jobs](#jobs)."}

// maxTimeout is a week.
const maxTimeout = 7 * 24 * 3600

// NodesVariable tells a job of nodes.
const NodesVariable = "KOLLA_NODES"

var nodesAttribute = Attribute{Name: "nodes", Type: TypeRole, Doc: "Role whose nodes the job is about: their names are in the environment variable " + NodesVariable + ", in order and with spaces between them. A node that comes or goes is a change. self.role are the nodes of the service; where that has no role, all of the cluster."}

var (
	jobTimeoutAttribute  = Attribute{Name: "timeout", Type: TypeNumber, Min: 1, Max: maxTimeout, Doc: "Seconds that all its attempts may take together: then it has failed. An apply waits as long, in place of -timeout. By default it may take any time, and an apply waits as -timeout says."}
	waitTimeoutAttribute = Attribute{Name: "timeout", Type: TypeNumber, Min: 1, Max: maxTimeout, Doc: "Seconds that an apply waits until it is ready, in place of -timeout."}
)
