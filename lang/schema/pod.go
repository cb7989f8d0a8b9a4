package schema

import (
	"regexp"
	"slices"
)

const envDoc = "Environment variables. What only a pod knows can be read here: [node and pod](#node-and-pod)."

const serviceLinksDoc = "Whether the environment of the pods has the variables that Kubernetes makes of every Service of the namespace, such as MARIADB_SERVICE_HOST. DNS names need none of them."

// podAttributes are arguments of jobs and workloads.
var podAttributes = []Attribute{
	{Name: "image", Type: TypeString, Required: true, Form: formPlain, Doc: "Name of a Kolla image, or a full reference if it holds a slash."},
	{Name: "user", Type: TypeNumber, Max: 4294967294, Doc: "User and group that it runs as: Kolla's fixed number of the service's account. 0 is root. By default the one that the image names."},
	{Name: "start", Type: TypeString, Default: "direct", OneOf: []string{"direct", "kolla"}, Doc: "direct: the command is run. kolla: by the image's own start script."},
	{Name: "command", Type: TypeList, Doc: "Command, in place of the image's."},
	{Name: "args", Type: TypeList, Doc: "Arguments of the command."},
	{Name: "env", Type: TypeTexts, Doc: envDoc},
	{Name: "host_network", Type: TypeBool, Default: false, Doc: "Whether pods use the network of their node."},
	{Name: "service_links", Type: TypeBool, Default: false, Doc: serviceLinksDoc},
}

// mountAttributes are for pods with the config files of their own service.
var mountAttributes = []Attribute{
	{Name: "config", Type: TypeList, Names: "config", Doc: "Names of the config files to mount."},
	{Name: "writable", Type: TypeList, Form: formPath, Doc: "Directories that can be written to, empty at every start."},
	{Name: "writable_size", Type: TypeString, Form: formQuantity, Doc: "The most that /tmp and each directory of `writable` may hold, 50Gi by default. Kubernetes evicts a pod that writes more."},
}

var resourcesType = &BlockType{
	Name: "resources", Single: true,
	Doc: "What a pod asks for, and what it is held to.",
	Example: `service "keystone" {
  workload "api" {
    resources {
      requests = { cpu = "250m", memory = "512Mi" }
      limits   = { cpu = "2", memory = "1Gi" }
    }
  }
}
`,
	Attributes: conditional([]Attribute{
		{Name: "requests", Type: TypeMap, Form: formQuantity, Doc: `Reserved for each pod: { cpu = "250m", memory = "512Mi" }.`},
		{Name: "limits", Type: TypeMap, Form: formQuantity, Doc: "More than this a pod does not get."},
	}),
}

// MountType describes the block `mount`.
var MountType = &BlockType{
	Name: "mount", Label: "secret", LabelForm: formName,
	Doc: "Puts the keys of a secret into a directory, one file each: one of this definition, or else one beside the services.",
	Example: `definition "status" {
  secret "keys" {
    kind = "fernet"
  }

  workload "web" {
    kind  = "Deployment"
    image = "registry.example.org/status:1"

    mount "keys" {
      path = "/etc/status/keys"
    }
  }
}
`,
	Attributes: conditional([]Attribute{
		{Name: "path", Type: TypeString, Required: true, Form: formPath, Doc: "The directory."},
	}),
}

var probeAttributes = []Attribute{
	{Name: "http", Type: TypeString, Form: formURLPath, Doc: "Path to GET from a port: good when the answer is 2xx or 3xx."},
	{Name: "port", Type: TypeString, Doc: "Name of the port, for http; by default that of a container with one port."},
	{Name: "scheme", Type: TypeString, Default: "http", OneOf: []string{"http", "https"}, Doc: "How http asks. With https no certificate is checked."},
	{Name: "headers", Type: TypeMap, Doc: "Headers that http sends, by name."},
	{Name: "tcp", Type: TypeString, Doc: "Name of a port to connect to."},
	{Name: "exec", Type: TypeList, Doc: "Command to run in the container: good when it ends with 0."},
	{Name: "period", Type: TypeNumber, Default: 10, Min: 1, Max: 3600, Doc: "Seconds between two tries."},
	{Name: "timeout", Type: TypeNumber, Default: 5, Min: 1, Max: 3600, Doc: "Seconds that a try may take."},
	{Name: "retries", Type: TypeNumber, Default: 3, Min: 1, Max: 10000, Doc: "Failures in a row that count as failed."},
	{Name: "delay", Type: TypeNumber, Default: 0, Max: 3600, Doc: "Seconds before the first try."},
}

func probeType(name, doc string) *BlockType {
	return &BlockType{Name: name, Single: true, Doc: doc + " One of http, tcp and exec says how.", Example: probeExample, Attributes: conditional(probeAttributes), Alternatives: probeAlternatives}
}

// probeAlternatives are the three kinds of probes, with the arguments of each.
var probeAlternatives = [][]string{{"http", "port", "scheme", "headers"}, {"tcp"}, {"exec"}}

// probeExample shows the probes together.
const probeExample = `definition "status" {
  port "http" {
    number = 8080
  }

  workload "web" {
    kind  = "Deployment"
    image = "registry.example.org/status:1"
    ports = ["http"]

    startup {
      enabled = cloud.release >= 2025.2
      exec    = ["status", "ping"]
      delay   = 5
      period  = 2
      retries = 60
    }

    ready {
      http    = "/health"
      port    = "http"
      scheme  = "https"
      headers = { Host = "status.example.org" }
      timeout = 2
    }

    live {
      tcp = "http"
    }
  }
}
`

// podMarks are the labels and annotations of pods.
var podMarks = []Attribute{
	{Name: "labels", Type: TypeMap, Form: formLabelValue, Doc: "Labels of the pods, besides kolla's own."},
	{Name: "annotations", Type: TypeMap, Doc: "Annotations of the pods, besides kolla's own."},
}

var formProfile = Form{
	`"unconfined", or "localhost/NAME" for a profile that the nodes have`,
	regexp.MustCompile(`^(unconfined|localhost/[^/\s][^\s]*)$`).MatchString,
}

// ReasonAttribute justifies the powers of a container.
var ReasonAttribute = Attribute{Name: "reason", Type: TypeString, Doc: "What the container's powers are for, for those who review them. `kolla catalogue NAME` shows it."}

// PowerAttributes are privileges of a single container.
var PowerAttributes = []Attribute{
	{Name: "privileged", Type: TypeBool, Default: false, Doc: "Whether the container can do whatever root of the node can."},
	{Name: "capabilities", Type: TypeList, Doc: "Capabilities of Linux that the container keeps, such as NET_ADMIN; all others are dropped. Only root gets them: `user = 0`."},
	{Name: "writable_root", Type: TypeBool, Default: false, Doc: "Whether the container can write to all of its image."},
	{Name: "seccomp", Type: TypeString, Form: formProfile, Doc: "Which system calls it may make: \"unconfined\" for all, or \"localhost/NAME\" for a profile that the nodes have. By default those of the container runtime's profile."},
	{Name: "apparmor", Type: TypeString, Form: formProfile, Doc: "AppArmor profile, likewise. Needs Kubernetes 1.30."},
	{Name: "selinux", Type: TypeString, Form: formPlain, Doc: "SELinux type that it runs as, such as spc_t; by default the container runtime chooses."},
}

// NamespaceAttributes share namespaces of the node with all containers of a pod.
var NamespaceAttributes = []Attribute{
	{Name: "host_pid", Type: TypeBool, Default: false, Doc: "Whether pods see the processes of their node."},
	{Name: "host_ipc", Type: TypeBool, Default: false, Doc: "Whether pods share the IPC of their node."},
}

var rolloutAttributes = []Attribute{
	{Name: "after", Type: TypeList, Names: "workload", Doc: "Names of workloads of the service that have to have rolled out before it changes."},
	{Name: "max_unavailable", Type: TypeString, Form: formShare, Doc: "How many pods may be missing while they are replaced, a number or a share such as 25%. With update = \"on-delete\": when a rollout is asked for. By default none of a Deployment, as long as new ones need nothing that old ones have, and otherwise 1. Not for a StatefulSet that updates by itself."},
	{Name: "surge", Type: TypeString, Form: formShare, Doc: "How many new pods may be there beside the old ones meanwhile, likewise. By default 1 of a Deployment, as long as new ones need nothing that old ones have, and otherwise none. Not for a StatefulSet."},
	{Name: "order", Type: TypeString, Default: "parallel", OneOf: []string{"parallel", "one-by-one"}, Doc: "How the pods of a StatefulSet start. parallel: at once. one-by-one: each when those before it are ready, and they stop the other way round. To change it the StatefulSet is made again; its volumes stay."},
}

var tolerationsAttribute = Attribute{
	Name: "tolerations", Type: TypeTolerations, Value: "[{ key = string, operator = string, value = string, effect = string }]",
	Doc: "Taints that pods run in spite of, besides those of their role, as Kubernetes has them: { key = \"dedicated\", value = \"cloud\", effect = \"NoSchedule\" }, or { operator = \"Exists\" } for all. Those of the definition, the cloud and the service count together.",
}

// placementAttributes are for workloads.
var placementAttributes = []Attribute{
	{Name: "priority", Type: TypeString, Form: FormSubdomain, Doc: "Name of the PriorityClass of the pods, such as system-node-critical: on a node without room, pods of a lower priority make room for them, and are stopped after them."},
	tolerationsAttribute,
	{Name: "spread", Type: TypeString, Default: "preferred", OneOf: []string{"preferred", "required"}, Doc: "How several pods share the nodes. preferred: on as many nodes as there are. required: never two on one node, and one that finds none waits."},
	{Name: "spread_by", Type: TypeString, Form: formLabelKey, Doc: "Label that tells places apart in place of nodes, such as topology.kubernetes.io/zone: the pods are spread over its values, and over the nodes of each."},
}

// sidecarExample shows the containers of a pod beside its main one.
const sidecarExample = `definition "status" {
  port "http" {
    number = 8080
  }

  port "metrics" {
    number = 9100
  }

  secret "session" {}

  config "exporter.yaml" {
    format = "yaml"
    path   = "/etc/exporter.yaml"
    values = { port = port.metrics }
  }

  workload "web" {
    kind     = "Deployment"
    image    = "registry.example.org/status:1"
    user     = 42999
    ports    = ["http"]
    writable = ["/run/status"]

    # Begins when this step has ended, and is told to stop after the main container.
    init "prepare" {
      image   = "registry.example.org/tools:1"
      user    = 42998
      command = ["prepare"]
      args    = ["--all"]
      env     = { REGION = cloud.region }
      config  = ["exporter.yaml"]

      mount "session" {
        path = "/etc/status/keys"
      }
    }

    sidecar "exporter" {
      image    = "registry.example.org/exporter:1"
      user     = 42997
      command  = ["exporter"]
      args     = ["--config=/etc/exporter.yaml"]
      env      = { LOG = "info" }
      ports    = ["metrics"]
      config   = ["exporter.yaml"]
      writable = ["/run/status"] # the same directory

      ready {
        http = "/metrics"
        port = "metrics"
      }
    }
  }
}
`

// ownAttributes are arguments of init steps and sidecars.
var ownAttributes = []Attribute{
	{Name: "user", Type: TypeNumber, Max: 4294967294, Doc: "User and group that it runs as, 0 for root; by default the workload's."},
	{Name: "args", Type: TypeList, Doc: "Arguments of the command."},
	{Name: "env", Type: TypeTexts, Doc: envDoc},
	{Name: "config", Type: TypeList, Names: "config", Doc: "Names of the config files to mount."},
}

// InitType describes the block `init`.
var InitType = &BlockType{
	Name: "init", Label: "init step", LabelForm: formName,
	Doc:     "A step in each pod before its main container starts, with the same files and environment, and others beside. Steps and sidecars start one after the other, in the order in which they are written. A secret that is mounted in the step is seen by the step alone.",
	Example: sidecarExample,
	Attributes: conditional(slices.Concat([]Attribute{
		{Name: "image", Type: TypeString, Form: formPlain, Doc: "Name of a Kolla image, or a full reference if it holds a slash; by default the workload's."},
		{Name: "command", Type: TypeList, Required: true, Doc: "Command to run."},
	}, ownAttributes, PowerAttributes, []Attribute{ReasonAttribute})),
	Blocks: []*BlockType{MountType, VolumeType},
}

// SidecarType describes the block `sidecar`.
var SidecarType = &BlockType{
	Name: "sidecar", Label: "sidecar", LabelForm: formName,
	Doc:     "A container in each pod that starts before the main one, and lives as long. What is written after it waits until it has started, which its `startup` probe says. It has no files, environment or directories of the main container, but for its volumes, and directories that both list in `writable`. Needs Kubernetes 1.29.",
	Example: sidecarExample,
	Attributes: conditional(slices.Concat([]Attribute{
		{Name: "image", Type: TypeString, Required: true, Form: formPlain, Doc: "Name of a Kolla image, or a full reference if it holds a slash."},
		{Name: "command", Type: TypeList, Doc: "Command, in place of the image's."},
		{Name: "ports", Type: TypeList, Names: "port", Doc: "Names of the ports that it listens on."},
		{Name: "writable", Type: TypeList, Form: formPath, Doc: "Directories that can be written to, empty at every start of the pod."},
	}, ownAttributes, PowerAttributes, []Attribute{ReasonAttribute})),
	Blocks: []*BlockType{MountType, VolumeType, resourcesType, startupProbeType, readyProbeType, liveProbeType},
}

// The probes of a workload and of a sidecar.
var (
	startupProbeType = probeType("startup", "Until it is good, the other probes wait. When it fails, the container starts again.")
	readyProbeType   = probeType("ready", "While it is good, the pod gets traffic.")
	liveProbeType    = probeType("live", "When it fails, the container starts again.")
)

// VolumeType describes the block `volume`.
var VolumeType = &BlockType{
	Name: "volume", Label: "volume", LabelForm: formName,
	Doc: "Something that is mounted at a path. One of `host`, `claim`, `memory` and `shared` says what it is. A volume of a workload or job is mounted in all containers of its pods, one of an `init` step or sidecar in that one alone. What a volume of the node holds outlives the pod, and every pod of the node can see it, so only the Pod Security level `privileged` lets such pods in.",
	Example: `definition "agent" {
  workload "agent" {
    kind    = "DaemonSet"
    image   = "registry.example.org/agent:1"
    command = ["agent"]

    # Powers are those of the main container alone, but for the namespaces of the node.
    user         = 0
    capabilities = ["NET_ADMIN", "NET_RAW"]
    reason       = "It looks after the node's network."
    host_network = true
    host_pid     = true
    host_ipc     = false

    volume "netns" { host = "/run/netns" }

    volume "modules" {
      host      = "/lib/modules"
      create    = false
      read_only = true
    }

    volume "tun" {
      host = "/dev/net/tun"
      type = "device"
    }

    volume "images" {
      claim = "images" # an existing PersistentVolumeClaim
      path  = "/srv/images"
    }

    volume "sockets" {
      shared = "16Mi"
      path   = "/run/agent"
    }

    volume "shm" {
      memory = "64Mi"
      path   = "/dev/shm"
    }

    sidecar "mounter" {
      image   = "registry.example.org/mounter:1"
      command = ["mounter"]
      user    = 0

      privileged = true

      # The node sees what is mounted here.
      volume "mounts" {
        host        = "/srv/mounts"
        propagation = "both"
      }
    }

    sidecar "debugger" {
      image         = "registry.example.org/debugger:1"
      user          = 42999
      writable_root = true
      seccomp       = "unconfined"
      apparmor      = "localhost/debugger"
      selinux       = "spc_t"
    }
  }
}
`,
	Attributes: conditional([]Attribute{
		{Name: "host", Type: TypeString, Form: formPath, Doc: "A path of the node."},
		{Name: "type", Type: TypeString, Default: "directory", OneOf: []string{"directory", "file", "socket", "device"}, Doc: "What there is at the path of the node. Pods wait until it is there, unless it is made."},
		{Name: "create", Type: TypeBool, Doc: "Whether a directory or file that the node lacks is made, as root's and empty. By default a directory is, and a file is not."},
		{Name: "propagation", Type: TypeString, OneOf: []string{"in", "both"}, Doc: "in: what the node mounts below the path later is seen in the container. both: the node sees what a privileged container mounts, too; for others it is as in. By default neither."},
		{Name: "claim", Type: TypeString, Form: FormSubdomain, Doc: "Name of a PersistentVolumeClaim that is there already."},
		{Name: "memory", Type: TypeString, Form: formQuantity, Doc: "Size of a directory in memory, empty at every start of the pod. It counts as memory of the containers that write to it."},
		{Name: "shared", Type: TypeString, Form: formQuantity, Doc: "Size of a directory that the containers of the pod share, empty at every start of the pod."},
		{Name: "path", Type: TypeString, Required: true, Unless: "host", Form: formPath, Doc: "Where it is mounted; by default the path of the node."},
		{Name: "read_only", Type: TypeBool, Default: false, Doc: "Whether nobody can write to it."},
	}),
	Alternatives: [][]string{append([]string{"host"}, HostArguments...), {"claim"}, {"memory"}, {"shared"}},
}

// HostArguments are the arguments of a volume that require the argument host.
var HostArguments = []string{"type", "create", "propagation"}
