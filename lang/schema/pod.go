package schema

import (
	"slices"

	"kolla.openstack.org/kolla/lang/schema/forms"
)

const envDoc = "Environment variables. What only a pod knows can be read here: [node and pod](../language.md#node-and-pod)."

const serviceLinksDoc = "Whether the environment of the pods has the variables that Kubernetes makes of every Service of the namespace, such as MARIADB_SERVICE_HOST. DNS names need none of them."

// podAttributes are arguments of jobs and workloads.
var podAttributes = []Attribute{
	{Name: "image", Type: TypeString, Required: true, Unless: "from", Form: forms.Plain, Doc: "Name of a Kolla image, or a full reference if it contains a slash."},
	{Name: "user", Type: TypeNumber, Max: 4294967294, Doc: "User and group of the process, as a number: Kolla has a fixed number for the account of each service; 0 is root. By default the image decides."},
	{Name: "start", Type: TypeString, Default: "direct", OneOf: []string{"direct", "kolla"}, Doc: "How the container starts. direct: kolla runs the command. kolla: the start script of the image runs it."},
	{Name: "command", Type: TypeList, Doc: "Command that replaces the command of the image. In a Kolla image, dumb-init runs it, as it runs the command of the image."},
	{Name: "args", Type: TypeList, Doc: "Arguments of the command."},
	{Name: "env", Type: TypeTexts, Doc: envDoc},
	{Name: "host_network", Type: TypeBool, Default: false, Doc: "Whether pods use the network of their node."},
	{Name: "service_links", Type: TypeBool, Default: false, Doc: serviceLinksDoc},
}

// mountAttributes are for pods with the config files of their own service.
var mountAttributes = []Attribute{
	{Name: "config", Type: TypeList, Names: "config", Doc: "Names of the config files to mount."},
	{Name: "writable", Type: TypeList, Form: forms.Path, Doc: "Directories that the container may write to. They are empty at every start."},
	{Name: "writable_size", Type: TypeString, Form: forms.Quantity, Doc: "Size limit of /tmp and of each directory of `writable`, by default 50Gi. Kubernetes evicts a pod that writes more."},
}

var resourcesType = &BlockType{
	Name: "resources", Single: true,
	Doc: "Resources that a container asks for, and its limits.",
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
		{Name: "requests", Type: TypeMap, Form: forms.Quantity, Doc: `Resources that Kubernetes reserves: { cpu = "250m", memory = "512Mi" }.`},
		{Name: "limits", Type: TypeMap, Form: forms.Quantity, Doc: "Limits of the container, in the same form."},
	}),
}

// MountType describes the block `mount`.
var MountType = &BlockType{
	Name: "mount", Label: "secret", LabelForm: forms.Name,
	Doc: "Mounts the keys of a secret in a directory, one file for each key. The label names a secret of this definition, or else one beside the services.",
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
		{Name: "path", Type: TypeString, Required: true, Form: forms.Path, Doc: "Path of the directory."},
	}),
}

var probeAttributes = []Attribute{
	{Name: "http", Type: TypeString, Form: forms.URLPath, Doc: "Path of a GET request. A status of 2xx or 3xx is success."},
	{Name: "port", Type: TypeString, Doc: "Name of the port for http; by default the only port of the container."},
	{Name: "scheme", Type: TypeString, Default: "http", OneOf: []string{"http", "https"}, Doc: "Scheme of the request. With https, the certificate is not checked."},
	{Name: "headers", Type: TypeMap, Doc: "Headers of the request, by name."},
	{Name: "tcp", Type: TypeString, Doc: "Name of a port. A connection to it is success."},
	{Name: "exec", Type: TypeList, Doc: "Command in the container. Exit code 0 is success."},
	{Name: "period", Type: TypeNumber, Default: 10, Min: 1, Max: 3600, Doc: "Seconds between two attempts."},
	{Name: "timeout", Type: TypeNumber, Default: 5, Min: 1, Max: 3600, Doc: "Seconds that an attempt may take."},
	{Name: "retries", Type: TypeNumber, Default: 3, Min: 1, Max: 10000, Doc: "Number of failures in a row that count as failed."},
	{Name: "delay", Type: TypeNumber, Default: 0, Max: 3600, Doc: "Seconds before the first attempt."},
}

func probeType(name, doc string) *BlockType {
	return &BlockType{Name: name, Single: true, Doc: doc, Example: probeExample, Attributes: conditional(probeAttributes), Alternatives: probeAlternatives}
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
	{Name: "labels", Type: TypeMap, Form: forms.LabelValue, Doc: "Labels of the pods, in addition to kolla's."},
	{Name: "annotations", Type: TypeMap, Doc: "Annotations of the pods, in addition to kolla's."},
}

// ReasonAttribute justifies the powers of a container.
var ReasonAttribute = Attribute{Name: "reason", Type: TypeString, Doc: "Why the container needs its powers, for reviewers. `kolla catalogue NAME` shows it."}

// PowerAttributes are privileges of a single container.
var PowerAttributes = []Attribute{
	{Name: "privileged", Type: TypeBool, Default: false, Doc: "Whether the container has all powers of root on the node."},
	{Name: "capabilities", Type: TypeList, Doc: "Linux capabilities that the container keeps, such as NET_ADMIN. It loses all others. Only root has them: `user = 0`."},
	{Name: "writable_root", Type: TypeBool, Default: false, Doc: "Whether the container may write to the whole filesystem of its image."},
	{Name: "seccomp", Type: TypeString, Form: forms.Profile, Doc: `Seccomp profile: "unconfined" allows all system calls, "localhost/NAME" is a profile on the nodes. By default it is the profile of the container runtime.`},
	{Name: "apparmor", Type: TypeString, Form: forms.Profile, Doc: "AppArmor profile, in the same form. Needs Kubernetes 1.30."},
	{Name: "selinux", Type: TypeString, Form: forms.Plain, Doc: "SELinux type of the processes, such as container_t. By default it is spc_t in pods with files of the node, and the container runtime's in others."},
}

// NamespaceAttributes share namespaces of the node with all containers of a pod.
var NamespaceAttributes = []Attribute{
	{Name: "host_pid", Type: TypeBool, Default: false, Doc: "Whether the pods see the processes of their node."},
	{Name: "host_ipc", Type: TypeBool, Default: false, Doc: "Whether the pods share IPC with their node."},
}

var rolloutAttributes = []Attribute{
	{Name: "after", Type: TypeList, Names: "workload", Doc: "Workloads of the service whose rollout must finish before this one changes."},
	{Name: "max_unavailable", Type: TypeString, Form: forms.Share, Doc: "How many pods may be unavailable during an update: a number, or a share such as 25%. With update = \"on-delete\" it applies to `kolla rollout`. The default for a Deployment is none if new pods need nothing that old ones hold; otherwise it is 1. It does not apply to a StatefulSet that updates by itself."},
	{Name: "surge", Type: TypeString, Form: forms.Share, Doc: "How many extra pods may exist during an update, in the same form. The default for a Deployment is 1 if new pods need nothing that old ones hold; otherwise it is none. It does not apply to a StatefulSet."},
	{Name: "order", Type: TypeString, Default: "parallel", OneOf: []string{"parallel", "one-by-one"}, Doc: "Start order of the pods of a StatefulSet. parallel: all at once. one-by-one: each pod waits until those before it are ready, and they stop in reverse order. To change it, kolla makes the StatefulSet again; its volumes stay."},
}

var tolerationsAttribute = Attribute{
	Name: "tolerations", Type: TypeTolerations, Value: "[{ key = string, operator = string, value = string, effect = string }]",
	Doc: `Taints that the pods tolerate, in addition to those of their role, in the form of Kubernetes: { key = "dedicated", value = "cloud", effect = "NoSchedule" }, or { operator = "Exists" } for all taints. The tolerations of the definition, the cloud and the service add up.`,
}

// placementAttributes are for workloads.
var placementAttributes = []Attribute{
	{Name: "priority", Type: TypeString, Form: forms.Subdomain, Doc: "Name of the PriorityClass of the pods, such as system-node-critical. On a full node, pods of a lower priority make room for them."},
	tolerationsAttribute,
	{Name: "spread", Type: TypeString, Default: "preferred", OneOf: []string{"preferred", "required"}, Doc: "How the pods of a workload share the nodes. preferred: on as many nodes as possible. required: never two pods on one node; a pod that finds no node waits."},
	{Name: "spread_by", Type: TypeString, Form: forms.LabelKey, Doc: "Label that defines places instead of nodes, such as topology.kubernetes.io/zone. The pods spread over its values, and over the nodes of each value."},
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
      logs     = "oslo"

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
	{Name: "user", Type: TypeNumber, Max: 4294967294, Doc: "User and group of the process, 0 for root; by default the workload's."},
	{Name: "args", Type: TypeList, Doc: "Arguments of the command."},
	{Name: "env", Type: TypeTexts, Doc: envDoc},
	{Name: "config", Type: TypeList, Names: "config", Doc: "Names of the config files to mount."},
}

// InitType describes the block `init`.
var InitType = &BlockType{
	Name: "init", Label: "init step", LabelForm: forms.Name,
	Doc:     "A step in each pod before the main container starts. It has the same files and environment, and may have more. Steps and sidecars start one after the other, in the order of the file. Only the step sees a secret that it mounts.",
	Example: sidecarExample,
	Attributes: conditional(slices.Concat([]Attribute{
		{Name: "image", Type: TypeString, Form: forms.Plain, Doc: "Name of a Kolla image, or a full reference if it contains a slash; by default the workload's."},
		{Name: "command", Type: TypeList, Required: true, Doc: "Command to run."},
	}, ownAttributes, PowerAttributes, []Attribute{ReasonAttribute})),
	Blocks: []*BlockType{MountType, VolumeType},
}

// SidecarType describes the block `sidecar`.
var SidecarType = &BlockType{
	Name: "sidecar", Label: "sidecar", LabelForm: forms.Name,
	Doc:     "A container in each pod that starts before the main one, and runs as long. Steps and containers after it wait until it has started, as its `startup` probe says. It shares the volumes of the main container, and the directories that both list in `writable`, but no other files, directories or environment. Needs Kubernetes 1.29.",
	Example: sidecarExample,
	Attributes: conditional(slices.Concat([]Attribute{
		{Name: "image", Type: TypeString, Required: true, Form: forms.Plain, Doc: "Name of a Kolla image, or a full reference if it contains a slash."},
		{Name: "command", Type: TypeList, Doc: "Command that replaces the command of the image. In a Kolla image, dumb-init runs it, as it runs the command of the image."},
		{Name: "ports", Type: TypeList, Names: "port", Doc: "Names of the ports that the container listens on."},
		{Name: "writable", Type: TypeList, Form: forms.Path, Doc: "Directories that the container may write to. They are empty at every start of the pod."},
		with(logsAttribute, logsDoc+" By default console."),
	}, ownAttributes, PowerAttributes, []Attribute{ReasonAttribute})),
	Blocks: []*BlockType{MountType, VolumeType, resourcesType, startupProbeType, readyProbeType, liveProbeType},
}

// The probes of a workload and of a sidecar.
var (
	startupProbeType = probeType("startup", "Until it is good, the other probes wait. When it fails, the container starts again. One of http, tcp and exec says how; without one, it does what ready does.")
	readyProbeType   = probeType("ready", "While it is good, the pod gets traffic. One of http, tcp and exec says how.")
	liveProbeType    = probeType("live", "When it fails, the container starts again. One of http, tcp and exec says how.")
)

// VolumeType describes the block `volume`.
var VolumeType = &BlockType{
	Name: "volume", Label: "volume", LabelForm: forms.Name,
	Doc: "Something that is mounted at a path. Exactly one of `host`, `claim`, `memory` and `shared` gives the source. All containers of the pods mount a volume of a workload or job; only the container itself mounts a volume of an `init` step or sidecar. A volume of the node outlives the pod, and every pod of the node can see it, so only the Pod Security level `privileged` allows it.",
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
		{Name: "host", Type: TypeString, Form: forms.Path, Doc: "Path on the node."},
		{Name: "type", Type: TypeString, Default: "directory", OneOf: []string{"directory", "file", "socket", "device"}, Doc: "Type of the path on the node. Pods wait until it exists, unless `create` makes it."},
		{Name: "create", Type: TypeBool, Doc: "Whether a missing directory or file is created, empty and owned by root. The default is true for a directory, and false for a file."},
		{Name: "propagation", Type: TypeString, OneOf: []string{"in", "both"}, Doc: "Mount propagation. in: the container sees what the node mounts below the path later. both: the node also sees what a privileged container mounts; for other containers it is the same as in. By default there is none."},
		{Name: "claim", Type: TypeString, Form: forms.Subdomain, Doc: "Name of an existing PersistentVolumeClaim."},
		{Name: "memory", Type: TypeString, Form: forms.Quantity, Doc: "Size of a directory in memory, which is empty at every start of the pod. It counts as memory of the containers that write to it."},
		{Name: "shared", Type: TypeString, Form: forms.Quantity, Doc: "Size of a directory that the containers of the pod share. It is empty at every start of the pod."},
		{Name: "path", Type: TypeString, Required: true, Unless: "host", Form: forms.Path, Doc: "Path in the container; by default the path on the node."},
		{Name: "read_only", Type: TypeBool, Default: false, Doc: "Whether the mount is read-only."},
	}),
	Alternatives: [][]string{append([]string{"host"}, HostArguments...), {"claim"}, {"memory"}, {"shared"}},
}

// HostArguments are the arguments of a volume that require the argument host.
var HostArguments = []string{"type", "create", "propagation"}
