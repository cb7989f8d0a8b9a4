package lang

import "slices"

// maxReplicas is more than anyone means.
const maxReplicas = 1000

var (
	kinds   = []string{"Deployment", "StatefulSet", "DaemonSet"}
	updates = []string{"rolling", "on-delete"}
	formats = []string{"ini", "properties", "yaml", "json", "raw"}
)

var definitionType = &BlockType{
	Name: "definition", Label: "definition", LabelForm: formName,
	Doc: "How a service is made. One of the same name as in the catalogue takes its place.",
	Example: `definition "status" {
  description = "A page that says how the cloud is"

  port "http" {
    number = 8080
    expose = true
  }

  database "status" {}

  secret "session" {}

  config "status.conf" {
    path = "/etc/status/status.conf"
    values = {
      DEFAULT  = { listen = "0.0.0.0:${port.http}", session_key = secret.session.value }
      database = { connection = database.status.url }
      identity = { auth_url = "${service.keystone.url}/v3" }
    }
  }

  job "db-sync" {
    image   = "registry.example.org/status:1"
    command = ["status", "migrate"]
    config  = ["status.conf"]
  }

  workload "web" {
    kind    = "Deployment"
    image   = "registry.example.org/status:1"
    command = ["status", "serve"]
    ports   = ["http"]
    config  = ["status.conf"]

    ready {
      http = "/health"
      port = "http"
    }
  }

  output "page" {
    value = "${self.public_url}/index.html"
  }
}

service "status" {
  role   = role.control
  expose = exposure.public

  port "http" {
    node_port = 30080
  }
}
`,
	Attributes: []Attribute{
		{Name: "description", Type: TypeLiteral, Doc: "What the service is, in a few words."},
	},
	Blocks: append([]*BlockType{inputType, ownLocalsType}, overridable()...),
}

// overridable are the blocks of a definition that a service can override.
func overridable() []*BlockType {
	return []*BlockType{
		portType, databaseType, queueType, userType, identityRoleType, secretType, configType, jobType, workloadType, endpointType, outputType, providesType, allowType, patchType,
	}
}

var portType = &BlockType{
	Name: "port", Label: "port", LabelForm: formPort,
	Doc: "A port of the service. Its number is read as port.NAME; the first one is the service's main port.",
	Example: `definition "status" {
  port "http" {
    number    = 8080
    expose    = true
    node_port = 30880
    public    = 80 # clients outside connect to http://cloud.example.org:80
  }

  # One number for both protocols are two ports.
  port "syslog" {
    number = 5514
  }

  port "syslog-udp" {
    number   = 5514
    protocol = "udp"
  }

  workload "web" {
    kind  = "Deployment"
    image = "registry.example.org/status:1"
    ports = ["http", "syslog", "syslog-udp"]
  }
}
`,
	ReadAs: "port.NAME",
	Attributes: conditional([]Attribute{
		{Name: "number", Type: TypeNumber, Required: true, Min: 1, Max: 65535, Doc: "Its number. Where a service has another one, what reads it follows."},
		{Name: "protocol", Type: TypeString, Default: "tcp", OneOf: []string{"tcp", "udp"}, Doc: "What is spoken on it. Two ports of one number have different protocols."},
		{Name: "expose", Type: TypeBool, Default: false, Doc: "Reachable from outside when the service has an exposure."},
		{Name: "node_port", Type: TypeNumber, Min: 1, Max: 65535, Doc: "Port on the nodes when it is; by default the cluster chooses one."},
		{Name: "public", Type: TypeNumber, Min: 1, Max: 65535, Doc: "Port that clients connect to at the exposure, and so in public_url; by default its number."},
	}),
}

var databaseType = &BlockType{
	Name: "database", Label: "database", LabelForm: formDatabase,
	Doc: "A database with its user, on a service that provides databases. Read as database.NAME.url, host, port, name, user, password. Two of one name, or with one user, on one server are an error.",
	Example: `definition "status" {
  input "cell" {
    default = "cell1"
  }

  database "status" {
    name   = "status_${input.cell}"
    user   = "status"
    server = "mariadb"
  }
}
`,
	ReadAs: "database.NAME",
	Reads: []Reading{
		{"name", "Its name."},
		{"user", "Name of the user."},
		{"password", "Password of the user, a secret."},
		{"host", "DNS name of the server."},
		{"port", "Port of the server."},
		{"password_file", "Where the password is below the `passwords` of the job that makes it."},
		{"url", "What the server's definition provides: the connection with user and password."},
	},
	Attributes: conditional([]Attribute{
		{Name: "name", Type: TypeString, Form: formDatabase, Doc: "Its name on the server; by default the label."},
		{Name: "user", Type: TypeString, Form: formDatabase, Doc: "Name of its user; by default the name of the database."},
		{Name: "server", Type: TypeString, Form: formName, Default: "mariadb", Doc: "Name of the service that it lives on."},
	}),
}

var configType = &BlockType{
	Name: "config", Label: "config file", LabelForm: formFile,
	Doc: "A config file. Jobs and workloads that list it get it mounted.",
	Example: `definition "status" {
  secret "session" {}

  config "status.conf" {
    format      = "ini"
    path        = "/etc/status/status.conf"
    secret_path = "/etc/status/status.conf.d/secrets.conf"
    values = {
      DEFAULT = { debug = false, session_key = secret.session.value }
    }
  }

  config "motd" {
    format  = "raw"
    path    = "/etc/motd"
    mode    = "0444"
    content = "Region ${cloud.region}\n"
  }

  # For a job that reads no more: what is changed elsewhere does not run it again.
  config "status-log.conf" {
    from = "status.conf"
    only = ["DEFAULT"]
  }

  # Secret as well if it comes from config_dir or a service.
  config "license.key" {
    format    = "raw"
    path      = "/etc/status/license.key"
    sensitive = true
    optional  = true
  }

  # There if config_dir has status/policy.yaml, or a service gives values.
  config "policy.yaml" {
    format   = "yaml"
    path     = "/etc/status/policy.yaml"
    optional = true
  }
}
`,
	Attributes: conditional([]Attribute{
		{Name: "format", Type: TypeLiteral, Default: "ini", OneOf: formats, Doc: "ini: sections of keys. properties: keys. yaml, json: maps in maps. raw: any content. By default the format of `from`, or else the extension decides: .yaml, .yml and .json (raw if the block has `content`), .toml is raw, others are ini."},
		{Name: "from", Type: TypeLiteral, Doc: "Name of another config file: this one is that with all its overrides, and its own values over it. path, secret_path, format and mode are that one's where this one says none."},
		{Name: "only", Type: TypeList, Doc: "Sections to take of `from`, or keys where there are no sections; written out."},
		{Name: "optional", Type: TypeBool, Default: false, Doc: "It is there only if something gives it content, such as the config directory; lists of names leave it out otherwise."},
		{Name: "mode", Type: TypeString, Form: formMode, Doc: "Permissions in octal digits, such as 0400; by default 0644, and 0440 of what is secret."},
		{Name: "path", Type: TypeString, Required: true, Unless: "from", Form: formPath, Doc: "Where the service reads it."},
		{Name: "secret_path", Type: TypeString, Form: formPath, Doc: "Where values with secrets in them go, for services that read a second file. Without it a file with a secret in it is a Secret as a whole."},
		{Name: "values", Type: TypeSettings, Doc: "ini: { SECTION = { KEY = VALUE } }, properties: { KEY = VALUE }, yaml and json: as deep as needed. A list is joined by commas; in a list of lists each inner one repeats the key."},
		{Name: "content", Type: TypeText, Doc: "raw: the file."},
		{Name: "sensitive", Type: TypeBool, Default: false, Doc: "The file is never shown and never stored, whatever gives its content: the definition, the config directory or the service. It is a Secret as a whole."},
	}),
}

const envDoc = "Environment variables. What only a pod knows can be read here: [node and pod](#node-and-pod)."

const serviceLinksDoc = "Whether the environment of the pods has the variables that Kubernetes makes of every Service of the namespace, such as MARIADB_SERVICE_HOST. DNS names need none of them."

// podAttributes are what jobs and workloads have in common.
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

// mountAttributes are for pods that have the files of their own service.
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

var mountType = &BlockType{
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

var whenAttribute = Attribute{Name: "when", Type: TypeString, Default: "before", OneOf: []string{"before", "after"}, Doc: "Before or after the workloads."}

var attemptsAttribute = Attribute{Name: "attempts", Type: TypeNumber, Default: 6, Max: 100, Doc: "How often a pod that failed is tried again."}

var jobType = &BlockType{
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
	Attributes: conditional(slices.Concat([]Attribute{whenAttribute, runsAttribute, attemptsAttribute, jobTimeoutAttribute, nodesAttribute}, podAttributes, namespaceAttributes, powerAttributes, []Attribute{reasonAttribute}, podMarks, mountAttributes)),
	Blocks:     []*BlockType{mountType, volumeType, resourcesType},
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

// probeAlternatives are the ways to probe.
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

// How the pods of a workload stop, in a definition and in a service.
var (
	gracePeriodAttribute = Attribute{Name: "grace_period", Type: TypeNumber, Max: 86400, Doc: "Seconds that a pod gets to stop, those of drain among them; by default what the cluster gives, which is 30."}
	drainAttribute       = Attribute{Name: "drain", Type: TypeNumber, Max: 86400, Doc: "Seconds that a pod goes on serving after it was told to stop: as long as it takes until no node sends it new connections. Shorter than grace_period. By default 5 for a Deployment with ports, whose other pods take over, and otherwise 0. Needs Kubernetes 1.30."}
)

var workloadType = &BlockType{
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
	}, rolloutAttributes, placementAttributes, podAttributes, namespaceAttributes, powerAttributes, []Attribute{reasonAttribute}, podMarks, mountAttributes)),
	Blocks: []*BlockType{
		initType,
		sidecarType,
		{
			Name: "claim", Label: "volume", LabelForm: formName,
			Doc: "A volume that each pod of a StatefulSet gets and keeps.",
			Attributes: conditional([]Attribute{
				{Name: "path", Type: TypeString, Required: true, Form: formPath, Doc: "Where it is mounted."},
				{Name: "size", Type: TypeString, Required: true, Form: formQuantity, Doc: "How big it is."},
				{Name: "storage_class", Type: TypeString, Form: formSubdomain, Doc: "Storage class; by default the cluster's default one."},
			}),
		},
		mountType,
		volumeType,
		resourcesType,
		lifecycleType,
		carriesType,
		leaveType,
		startupProbeType,
		readyProbeType,
		liveProbeType,
	},
}

var outputType = &BlockType{
	Name: "output", Label: "output", LabelForm: formIdentifier,
	Doc: "A value that others read as service.NAME.OUTPUT.",
	Example: `definition "status" {
  port "http" {
    number = 8080
  }

  workload "web" {
    kind  = "Deployment"
    image = "registry.example.org/status:1"
    ports = ["http"]
  }

  output "page" {
    value = "${self.url}/index.html"
  }
}
`,
	Attributes: conditional([]Attribute{
		{Name: "value", Type: TypeAny, Required: true, Doc: "The value."},
	}),
}
