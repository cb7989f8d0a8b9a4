package schema

import (
	"slices"

	"kolla.openstack.org/kolla/lang/schema/forms"
)

// How the pods of a workload stop, in a definition and in a service.
var (
	gracePeriodAttribute = Attribute{Name: "grace_period", Type: TypeNumber, Max: 86400, Doc: "Seconds that a pod gets to stop, including `drain`; by default 30, as in Kubernetes."}
	drainAttribute       = Attribute{Name: "drain", Type: TypeNumber, Max: 86400, Doc: "Seconds that a pod goes on serving after Kubernetes has told it to stop, until no node sends it new connections. It must be shorter than grace_period. The default is 5 for a Deployment with ports, whose other pods take over, and otherwise 0. Needs Kubernetes 1.30."}
)

// WorkloadType describes the block `workload`.
var WorkloadType = &BlockType{
	Name: "workload", Label: "workload", LabelForm: forms.Name,
	Doc: "Pods that run all the time.",
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

  # Speaks to agents on the nodes, as all of them understand it.
  workload "mailer" {
    from     = "worker"
    replicas = 1
    stage    = "nodes"
    follows  = ["nova-compute"]
    env      = { QUEUE = workload.name }
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
    logs          = "files"

    init "prepare" {
      command = ["status", "prepare"]
    }

    claim "data" {
      path          = "/var/lib/status"
      size          = "10Gi"
      storage_class = "fast"
    }
  }

  workload "archive" {
    kind  = "StatefulSet"
    image = "registry.example.org/status:1"
    user  = 42999

    claim "data" {
      path     = "/var/lib/archive"
      existing = "archive-2019" # a PersistentVolumeClaim of somebody else
    }
  }
}
`,
	Attributes: conditional(slices.Concat([]Attribute{
		FromAttribute,
		{Name: "kind", Type: TypeString, Required: true, Unless: "from", OneOf: kinds, Doc: "Deployment: identical pods. StatefulSet: pods with names and volumes of their own. DaemonSet: one pod on every node of the role."},
		{Name: "role", Type: TypeRole, Doc: "Nodes that the workload runs on; by default those of the service."},
		{Name: "replicas", Type: TypeNumber, Default: 1, Max: forms.MaxReplicas, Doc: "Number of pods, unless the service says otherwise."},
		{Name: "max_replicas", Type: TypeNumber, Min: 1, Max: forms.MaxReplicas, Doc: "Maximum number of pods."},
		{Name: "update", Type: TypeString, Default: "rolling", OneOf: updates, Doc: "When pods are replaced. rolling: when something changes. on-delete: only by `kolla rollout`, or when somebody deletes them."},
		{Name: "rollout_first", Type: TypeBool, Default: false, Doc: "Whether `kolla rollout` replaces the pods before those of other workloads: until then something waits for them. For a workload whose update is on-delete."},
		waitTimeoutAttribute, gracePeriodAttribute, drainAttribute,
		{Name: "loss", Type: TypeString, Doc: `Consequence for others if no pod of the workload runs, as the end of a sentence: "running servers lose their network". kolla then protects the workload like data: no plan deletes or replaces it unless -delete-data names it.`},
		{Name: "scale_down", Type: TypeString, Doc: `How to remove pods of a StatefulSet if an apply cannot do it, as whole sentences: "Each member has to leave the cluster first: ...". kolla refuses a plan with fewer pods with this text.`},
		{Name: "ports", Type: TypeList, Names: "port", Doc: "Names of the ports that the container listens on."},
		{Name: "stage", Type: TypeString, OneOf: stages, Doc: "The part of an upgrade in which the workload changes, if it is not that of the definition. Jobs of the service and other services do not wait for the workload then."},
		{Name: "follows", Type: TypeList, Doc: "Names of definitions, such as nova-compute. The pods start once more when all workloads of these definitions run new images: they have read at their start which versions they may speak. They do so with the first apply after the last pod was replaced."},
		with(logsAttribute, logsDoc+" By default oslo."),
		{Name: "own_addresses", Type: TypeBool, Default: false, Doc: "Whether each pod of a StatefulSet has a Service of its own, SERVICE-WORKLOAD-NUMBER.NAMESPACE, whose address stays when the pod is replaced: for clients that must reach a certain pod and resolve no names."},
	}, rolloutAttributes, placementAttributes, podAttributes, NamespaceAttributes, PowerAttributes, []Attribute{ReasonAttribute}, podMarks, mountAttributes)),
	Blocks: []*BlockType{
		InitType,
		SidecarType,
		{
			Name: "claim", Label: "volume", LabelForm: forms.Name,
			Doc: "A volume that each pod of a StatefulSet gets and keeps.",
			Attributes: conditional([]Attribute{
				{Name: "path", Type: TypeString, Required: true, Form: forms.Path, Doc: "Path in the container."},
				{Name: "size", Type: TypeString, Required: true, Unless: "existing", Form: forms.Quantity, Doc: "Size of the volume. If it is raised later, the volumes grow."},
				{Name: "storage_class", Type: TypeString, Form: forms.Subdomain, Doc: "Storage class; by default the default class of the cluster. It has no effect on an existing claim."},
				{Name: "existing", Type: TypeString, Form: forms.Subdomain, Doc: "Name of a PersistentVolumeClaim that exists already, in place of a new one: for a workload with one pod. kolla neither changes nor deletes it. For several pods, see [storage](../storage.md#existing-volumes)."},
			}),
			Alternatives: [][]string{{"size"}, {"existing"}},
		},
		MountType,
		VolumeType,
		resourcesType,
		LifecycleType,
		carriesType,
		leaveType,
		backupType,
		dataVersionType,
		metricsType,
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
	containerAttribute = Attribute{Name: "container", Type: TypeString, Doc: "Name of the sidecar that runs the command; by default the main container."}
	commandAttribute   = Attribute{Name: "command", Type: TypeList, Required: true}
)

// carriesType and leaveType are blocks of a workload.
var (
	carriesType = &BlockType{
		Name: "carries", Single: true,
		Doc:     "A command that prints the names of what users lose when the pods go. An apply that deletes the workload or removes it from a node runs it in each of these pods and shows the names by node before it asks for approval. A plan does not run it. Only for a DaemonSet or StatefulSet.",
		Example: leavingExample,
		Attributes: conditional([]Attribute{
			with(whatAttribute, "What the items are, in a few words: \"running servers\"."),
			containerAttribute,
			with(commandAttribute, "Command that prints one item a line, and changes nothing. It has ten seconds."),
		}),
	}
	leaveType = &BlockType{
		Name: "leave", Single: true,
		Doc:     "A command that cleans the node. It runs in each running pod right before kolla deletes the workload: in a destroy, or because its service or its block is gone. It does not run if pods are only replaced, nor if a node leaves the role. If a pod cannot run it, kolla says so at the end, and goes on. It may run several times. Only for a DaemonSet or StatefulSet.",
		Example: leavingExample,
		Attributes: conditional([]Attribute{
			with(whatAttribute, "What it takes away, in a few words: \"bridges and ports\". It is named for each node that could not be cleaned."),
			containerAttribute,
			with(commandAttribute, "Command that takes away what outlives the pod, and ends with 0 also where nothing is left to do."),
			{Name: "timeout", Type: TypeNumber, Default: 60, Min: 1, Max: maxTimeout, Doc: "Seconds that the command may take in each pod."},
		}),
	}
)

// dataVersionType is a block of a workload.
var dataVersionType = &BlockType{
	Name: "data_version", Single: true,
	Doc: "The version of a program that converts its data when it starts, and does not start with the data of a newer one. Plans of an upgrade name the change, and refuse it if the new version does not take over the data of the old one. Only for a StatefulSet or DaemonSet.",
	Example: `definition "notes" {
  workload "server" {
    kind    = "StatefulSet"
    image   = "registry.example.org/notes:3"
    user    = 42999
    command = ["notes", "serve", "/var/lib/notes"]

    data_version {
      program = "Notes"
      version = "3.0"
      from    = ["2.4", "2.5"]
      detail  = "Upgrade to 2.5 first."
    }

    claim "data" {
      path = "/var/lib/notes"
      size = "1Gi"
    }
  }
}
`,
	Attributes: conditional([]Attribute{
		{Name: "program", Type: TypeString, Required: true, Doc: "Name of the program, as plans show it."},
		{Name: "version", Type: TypeString, Required: true, Doc: "Version of the program in the image: as much of it as decides about the data, such as 11.4. Where it follows from the release of the image, image.release is the release that the tag of the image names, else `cloud.release`."},
		{Name: "from", Type: TypeList, Doc: "Other versions whose data this version takes over; by default all."},
		{Name: "detail", Type: TypeString, Doc: "How to get there from any other version, as whole sentences."},
	}),
}

// backupType is a block of a workload.
var backupType = &BlockType{
	Name: "backup", Single: true,
	Doc: "How `kolla backup` saves the data of the workload, and how `kolla restore` brings them back. Only for a StatefulSet.",
	Example: `definition "notes" {
  workload "server" {
    kind    = "StatefulSet"
    image   = "registry.example.org/notes:1"
    user    = 42999
    command = ["notes", "serve", "/var/lib/notes"]

    backup {
      what      = "notes"
      container = "saver"
      save      = ["tar", "-C", "/var/lib/notes", "-c", "."]
      stage     = ["sh", "-ec", "rm -rf /var/lib/notes/.new; mkdir /var/lib/notes/.new; tar -C /var/lib/notes/.new -x"]
      restore   = ["sh", "-ec", "mv /var/lib/notes/.new/* /var/lib/notes"]
      offline   = true
      mismatch  = "Notes that were made since are gone, and links to them lead nowhere."
    }

    # tar is not in the main image.
    sidecar "saver" {
      image   = "registry.example.org/saver:1"
      user    = 42999
      command = ["sleep", "infinity"]
    }

    claim "data" {
      path = "/var/lib/notes"
      size = "1Gi"
    }
  }
}
`,
	Attributes: conditional([]Attribute{
		with(whatAttribute, "What the data are, in a few words: \"databases\"."),
		with(containerAttribute, "Name of the sidecar that runs the commands; by default the main container."),
		{Name: "save", Type: TypeList, Required: true, Doc: "Command that writes the data to standard output. It runs in the last pod that is ready, while the workload goes on."},
		{Name: "stage", Type: TypeList, Required: true, Doc: "Command that reads the data from standard input and puts them aside. kolla adds an argument: their size in bytes. The command must fail if there is no room, and must not change what the workload uses. It may run several times."},
		{Name: "restore", Type: TypeList, Required: true, Doc: "Command that puts the data which were put aside into use. With `offline`, it runs for each pod, and leaves the pods other than the first one empty."},
		{Name: "offline", Type: TypeBool, Default: false, Doc: "Whether kolla stops the workload for `restore`, and starts it again. `stage` and `restore` then run in pods of their own, which mount the claims of the pods of the workload: `stage` for its first pod only. By default both run in the last pod that is ready."},
		{Name: "mismatch", Type: TypeString, Doc: "What does not fit together after a restore, as whole sentences. `kolla restore` shows it before it asks."},
	}),
}

// with returns an attribute with a description.
func with(a Attribute, doc string) Attribute {
	a.Doc = doc
	return a
}

// JobCheck is the value of `when` of a job that looks whether an upgrade is possible.
const JobCheck = "check"

var whenAttribute = Attribute{Name: "when", Type: TypeString, Default: "before", OneOf: []string{"before", "after", JobCheck}, Doc: "Whether the job runs before or after the workloads. check: when the image changes, and before a plan changes anything that runs. If it fails, the plan ends there. It has the new image and the new config, beside the old pods. It has no `runs`."}

var attemptsAttribute = Attribute{Name: "attempts", Type: TypeNumber, Default: 6, Max: 100, Doc: "How often a failed pod is tried again."}

var fatalAttribute = Attribute{Name: "fatal_exit_codes", Type: TypeList, Form: forms.ExitCode, Value: "list of numbers from 1 to 255", Doc: "Exit codes of the command with which the job has failed at once. After any other failure it is tried again (`attempts`)."}

// JobType describes the block `job`.
var JobType = &BlockType{
	Name: "job", Label: "job", LabelForm: forms.Name,
	Doc: "A command that runs once, and again when the image, config or secrets of the job change, unless `runs` says otherwise. Jobs run one after the other, in the order of the file.",
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

  # Looks whether the new release can take over the data.
  job "upgrade-check" {
    from             = "migrate"
    when             = "check"
    command          = ["status", "upgrade-check"]
    fatal_exit_codes = [2]
  }

  # Needs the data of an older release.
  job "convert" {
    from    = "migrate"
    runs    = "upgrade"
    command = ["status", "convert"]
  }
}
`,
	Attributes: conditional(slices.Concat([]Attribute{FromAttribute, whenAttribute, runsAttribute, attemptsAttribute, fatalAttribute, jobTimeoutAttribute, nodesAttribute}, podAttributes, NamespaceAttributes, PowerAttributes, []Attribute{ReasonAttribute}, podMarks, mountAttributes)),
	Blocks:     []*BlockType{MountType, VolumeType, resourcesType, registersType, makesDatabaseType, mapsCellsType, makesQueueType},
}

var runsAttribute = Attribute{Name: "runs", Type: TypeString, Default: "change", OneOf: []string{"change", "release", "upgrade", "once", "rotation"}, Doc: "When the job runs again. change: when its image, config or secrets change. release: when its image changes. upgrade: like release, but not with the first image of the service. once: never. rotation: after each rotation of the keys of a secret that it mounts, and not before the first one. A failed job runs again in any case; see [Jobs](../language.md#jobs)."}

// maxTimeout is a week.
const maxTimeout = 7 * 24 * 3600

// NodesVariable tells a job of nodes.
const NodesVariable = "KOLLA_NODES"

var nodesAttribute = Attribute{Name: "nodes", Type: TypeRole, Doc: "Role whose nodes the job is about: their names are in the environment variable " + NodesVariable + ", in order and with spaces between them. A node that comes or goes is a change. self.role are the nodes of the service; where that has no role, all of the cluster."}

var (
	jobTimeoutAttribute  = Attribute{Name: "timeout", Type: TypeNumber, Min: 1, Max: maxTimeout, Doc: "Seconds that all attempts may take together before the job has failed. An apply waits as long, instead of -timeout. By default the job has no limit, and an apply waits as long as -timeout says."}
	waitTimeoutAttribute = Attribute{Name: "timeout", Type: TypeNumber, Min: 1, Max: maxTimeout, Doc: "Seconds that an apply waits until the workload is ready, instead of -timeout."}
)
