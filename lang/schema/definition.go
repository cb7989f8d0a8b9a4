package schema

import "kolla.openstack.org/kolla/lang/schema/forms"

var (
	kinds   = []string{"Deployment", "StatefulSet", "DaemonSet"}
	updates = []string{"rolling", "on-delete"}
	formats = []string{"ini", "properties", "yaml", "json", "raw"}
)

// DefinitionType describes the block `definition`.
var DefinitionType = &BlockType{
	Name: "definition", Label: "definition", LabelForm: forms.Name,
	Doc: "The recipe of a service. A definition with the name of one in the catalogue replaces that one.",
	Example: `definition "status" {
  description = "A page that says how the cloud is"
  stage       = "control"

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

# What pages have in common.
definition "page" {
  abstract = true

  port "http" {
    expose = true
  }

  secret "session" {}

  config "*.conf" {
    path   = "/etc/${definition.name}/${definition.name}.conf"
    values = { DEFAULT = { listen = "0.0.0.0:${port.http}", session_key = secret.session.value } }
  }

  workload "web" {
    kind   = "Deployment"
    image  = "registry.example.org/${definition.name}:1"
    ports  = ["http"]
    config = ["${definition.name}.conf"]
  }
}

# It has the secret, the file news.conf and the workload of the other.
definition "news" {
  from        = "page"
  description = "A page with news"
  project     = "page" # page.conf in the config directory is also for it

  port "http" {
    number = 8081
  }

  config "news.conf" {
    values = { DEFAULT = { title = "News" } }
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
		{Name: "description", Type: TypeLiteral, Doc: "Short description of the service."},
		{Name: "from", Type: TypeLiteral, Doc: "Name of another definition to start from: one of this module, of a module around it, or of the catalogue. The blocks of this definition override its blocks, as those of a service do; see [Definitions that share blocks](../language.md#definitions-that-share-blocks)."},
		{Name: "project", Type: TypeLiteral, Doc: "Name of the definition of the same OpenStack project whose files in the config directory are also for this one: with `project = \"nova\"`, nova.conf and the directory nova. The value must be literal."},
		StageAttribute,
		AbstractAttribute,
	},
	Blocks: append([]*BlockType{InputType, OwnLocalsType, OwnCheckType}, overridable()...),
}

// stages are the parts of an upgrade in which workloads change.
var stages = []string{"data", "control", "nodes"}

// StageAttribute is the stage of the services of a definition.
var StageAttribute = Attribute{Name: "stage", Type: TypeLiteral, Default: "control", OneOf: stages, Doc: "The part of an upgrade in which services of the definition change, for `kolla apply -until`. data: databases and queues. control: what uses them. nodes: what every node runs for guests. What a service depends on always changes before it. The value must be literal."}

// AbstractAttribute marks a definition that is only for others to start from.
var AbstractAttribute = Attribute{Name: "abstract", Type: TypeBool, Default: false, Doc: "Whether the definition is only for others to start from, and no service can use it. It may leave out arguments that blocks need. In its labels, `*` stands for the name of the definition that starts from it, and in its expressions definition.name. The value must be literal."}

// NameMark stands for the name of the definition that starts from an abstract one, in labels.
const NameMark = "*"

// FromAttribute is the workload, or the job, that another one starts from.
var FromAttribute = Attribute{Name: "from", Type: TypeLiteral, Doc: "Name of another block of this type in the definition to start from. The arguments and blocks of this one override those of the other, except `enabled`, which it does not take over. The other one may read the name of this block as workload.name, or job.name."}

// overridable returns the types of blocks of a definition that a service can override.
func overridable() []*BlockType {
	return []*BlockType{
		PortType, databaseType, QueueType, UserType, IdentityRoleType, SecretType, configType, JobType, WorkloadType, EndpointType, outputType, providesType, allowType, PatchType,
	}
}

// PortType describes the block `port`.
var PortType = &BlockType{
	Name: "port", Label: "port", LabelForm: forms.Port,
	Doc: "A port of the service. Expressions read its number as port.NAME. The first port is the main port of the service.",
	Example: `definition "status" {
  port "http" {
    number    = 8080
    expose    = true
    node_port = 30880
    public    = 80 # clients outside connect to http://cloud.example.org
  }

  # One number for both protocols are two ports.
  port "syslog" {
    number = 5514
    tls    = false
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
		{Name: "number", Type: TypeNumber, Required: true, Min: 1, Max: 65535, Doc: "Number of the port. If a service overrides it, everything that reads it follows."},
		{Name: "protocol", Type: TypeString, Default: "tcp", OneOf: []string{"tcp", "udp"}, Doc: "Protocol on the port. Two ports with the same number need different protocols."},
		{Name: "expose", Type: TypeBool, Default: false, Doc: "Whether clients outside reach the port if the service has an exposure."},
		{Name: "node_port", Type: TypeNumber, Min: 1, Max: 65535, Doc: "Port on the nodes if the port is exposed, for exposures of the mode nodeport; by default the cluster chooses one."},
		{Name: "public", Type: TypeNumber, Min: 1, Max: 65535, Doc: "Port that clients outside connect to, which is also in public_url; by default the number. For exposures of the modes nodeport and loadbalancer."},
		{Name: "tls", Type: TypeBool, Default: true, Doc: "Whether an exposure with `tls` encrypts the port, so that public_url begins with https://. Write false for a port that encrypts itself, and for protocols that begin without encryption, such as those of databases."},
	}),
}

var databaseType = &BlockType{
	Name: "database", Label: "database", LabelForm: forms.Database,
	Doc: "A database with a user, on a service that provides databases. Expressions read database.NAME.url, host, port, name, user and password. Two databases on one server cannot share a name or a user.",
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
		{"addresses", "What the server's definition provides: addresses of its pods, for a block `maps_cells`. None: the server is elsewhere."},
	},
	Attributes: conditional([]Attribute{
		{Name: "name", Type: TypeString, Form: forms.Database, Doc: "Name of the database on the server; by default the label."},
		{Name: "user", Type: TypeString, Form: forms.Database, Doc: "Name of the user; by default the name of the database."},
		{Name: "server", Type: TypeString, Form: forms.Name, Default: "mariadb", Doc: "Name of the service that provides the database."},
	}),
}

var configType = &BlockType{
	Name: "config", Label: "config file", LabelForm: forms.File,
	Doc: "A config file. kolla mounts it in the jobs and workloads that list it.",
	Example: `definition "status" {
  secret "session" {}

  config "status.conf" {
    format      = "ini"
    path        = "/etc/status/status.conf"
    secret_path = "/etc/status/status.conf.d/secrets.conf"
    values = {
      DEFAULT = { debug = false, session_key = secret.session.value }
    }
    pins = { "rpc.compatible" = "auto" }
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
		{Name: "format", Type: TypeLiteral, Default: "ini", OneOf: formats, Doc: "Format of the file. ini: sections of keys. properties: keys. yaml, json: nested maps. raw: any content. By default it is the format of `from`, or else the extension decides: .yaml, .yml and .json (raw if the block has `content`), .toml is raw, all others are ini."},
		{Name: "from", Type: TypeLiteral, Doc: "Name of another config file to start from, with all of its overrides. The values of this block override it. path, secret_path, format and mode are those of the other file unless this block sets them."},
		{Name: "only", Type: TypeList, Doc: "Sections to take from `from`, or keys if the file has no sections. The list must be literal. An empty list takes none."},
		{Name: "pins", Type: TypeMap, Doc: "Options that let a service work beside an older release during an upgrade, as SECTION.KEY, with the value without that effect: { \"rpc.compatible\" = \"auto\" }. If a cloud gives one of them another value, a warning says so until it is taken away."},
		{Name: "optional", Type: TypeBool, Default: false, Doc: "Whether the file exists only if something gives it content, such as the config directory. Lists of file names leave it out otherwise."},
		{Name: "mode", Type: TypeString, Form: forms.Mode, Doc: "Permissions in octal digits, such as 0400. The default is 0644, and 0440 for secret content."},
		{Name: "path", Type: TypeString, Required: true, Unless: "from", Form: forms.Path, Doc: "Path in the container."},
		{Name: "secret_path", Type: TypeString, Form: forms.Path, Doc: "Path of a second file for the values with secrets, for services that read one. Without it, a file with a secret in it becomes a Secret as a whole."},
		{Name: "values", Type: TypeSettings, Doc: "Values of the file. ini: { SECTION = { KEY = VALUE } }. properties: { KEY = VALUE }. yaml and json: maps of any depth. kolla joins a list with commas; a list of lists repeats the key for each inner list."},
		{Name: "content", Type: TypeText, Doc: "Content of a raw file."},
		{Name: "sensitive", Type: TypeBool, Default: false, Doc: "Whether the whole file is secret, wherever its content comes from: the definition, the config directory or the service. kolla never shows and never stores it, and puts it into a Secret."},
	}),
}

var outputType = &BlockType{
	Name: "output", Label: "output", LabelForm: forms.Identifier,
	Doc: "A value that other services read as service.NAME.OUTPUT.",
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

// InputType describes the block `input`: a value that a service gives to its definition.
var InputType = &BlockType{
	Name: "input", Label: "input", LabelForm: forms.Identifier,
	Doc: "A parameter of the definition. A service sets it with an argument of that name. The definition and the blocks of the service read it as input.NAME.",
	Example: `definition "status" {
  input "checks" {
    type        = map(object({ url = string, period = optional(number, 30) }))
    default     = {}
    description = "What is looked at, by name."
    nullable    = false

    validation {
      condition     = alltrue([for c in input.checks : startswith(c.url, "https://")])
      error_message = "Only https is looked at."
    }
  }

  input "token" {
    type      = string
    default   = null
    sensitive = true
  }

  config "status.conf" {
    path = "/etc/status.conf"
    values = {
      DEFAULT = { token = input.token }
      checks  = { for name, c in input.checks : name => c.url }
    }
  }

  workload "web" {
    kind   = "Deployment"
    image  = "registry.example.org/status:1"
    config = ["status.conf"]
  }
}

service "status" {
  checks = { site = { url = "https://www.example.org" } }
}
`,
	ReadAs: "input.NAME",
	Attributes: []Attribute{
		{Name: "type", Type: TypeConstraint, Doc: "Type constraint, as for a variable. By default the input takes any value."},
		{Name: "default", Type: TypeAny, Doc: "Value of the input if the service sets none. An input without a default needs a value."},
		{Name: "description", Type: TypeLiteral, Doc: "Purpose of the input."},
		{Name: "sensitive", Type: TypeBool, Default: false, Doc: "Whether kolla hides the value: it never shows and never stores it."},
		{Name: "nullable", Type: TypeBool, Default: true, Doc: "Whether the value may be null. If not, null selects the default."},
	},
	Blocks: variableType.Blocks,
}

// MayBeInput reports whether an argument of a block may be the value of an input. Which
// inputs exist depends on the definition.
func (t *BlockType) MayBeInput(name string) bool { return t == ServiceType && t.Block(name) == nil }

// OwnLocalsType describes the block `locals` of a definition.
var OwnLocalsType = &BlockType{
	Name: "locals", AnyAttribute: true,
	Doc: "Names for expressions in the definition: local.NAME reads the argument NAME, and hides a local value of the module with the same name. The arguments may refer to everything that the definition may refer to. Such a reference counts only if something reads the local value.",
	Example: `definition "status" {
  locals {
    cluster = self.replicas > 1
    options = join(" ", [for name in ["a", "b"] : "--${name}"])
  }

  workload "web" {
    kind    = "Deployment"
    image   = "registry.example.org/status:1"
    command = ["status", local.options, local.cluster ? "--cluster" : "--alone"]
  }
}
`,
	ReadAs: "local.NAME",
}

// OwnCheckType describes the block `check` of a definition.
var OwnCheckType = &BlockType{
	Name: "check", Label: "check", LabelForm: forms.Identifier,
	Doc: "Assertions about each service of the definition and the services around it. If one does not hold, kolla warns; it stops nothing. The warning points at the first input in the condition that the service sets, or else at the service. kolla evaluates the assertions after all services, so their references create no dependencies. There, cloud.outputs has the outputs of the services by the names of their definitions: cloud.outputs[\"gateway\"] is a list with an object for each service of that definition.",
	Example: `definition "gateway" {
  input "zone" {
    type    = string
    default = "a"
  }

  workload "gateway" {
    kind  = "DaemonSet"
    image = "registry.example.org/gateway:1"
  }

  output "zone" {
    value = input.zone
  }

  check "zone" {
    assert {
      condition     = length([for g in cloud.outputs["gateway"] : g if g.zone == input.zone]) == 1
      error_message = "Zone ${input.zone} has more than one gateway."
    }
  }
}
`,
	Blocks: []*BlockType{assertType},
}

// PatchType describes the block `patch`.
var PatchType = &BlockType{
	Name: "patch", Label: "patch", LabelForm: forms.Patched,
	Doc: "Changes fields of objects that kolla makes. Use it for fields of Kubernetes that this language has no argument for. The label is KIND/NAME; `*` and `?` in the name match anything, and names that end with a hash are written without it. See [Patches](../language.md#patches).",
	Example: `definition "status" {
  workload "web" {
    kind  = "Deployment"
    image = "registry.example.org/status:1"
  }

  patch "Deployment/*-web" {
    object = {
      spec = { template = { spec = { terminationGracePeriodSeconds = 90 } } }
    }
  }
}

service "keystone" {
  patch "Deployment/keystone-api" {
    enabled = cloud.release >= 2025.2

    object = {
      metadata = { annotations = { "example.org/owner" = "identity team" } }
      spec = { template = { spec = {
        tolerations = [{ key = "example.org/control", operator = "Exists" }]
        containers  = [{ name = "api", workingDir = "/var/lib/keystone" }]
      } } }
    }
  }
}
`,
	Attributes: conditional([]Attribute{
		{Name: "object", Type: TypeObject, Required: true, Doc: "The fields, without apiVersion, kind and name. kolla merges them like a server-side apply: maps by key, lists of named elements by name, any other list as a whole. `null` removes a field."},
	}),
}
