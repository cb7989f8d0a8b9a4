package schema

import (
	"path"
	"regexp"
	"strings"
)

// maxReplicas is higher than any sensible number of pods.
const maxReplicas = 1000

var (
	kinds   = []string{"Deployment", "StatefulSet", "DaemonSet"}
	updates = []string{"rolling", "on-delete"}
	formats = []string{"ini", "properties", "yaml", "json", "raw"}
)

// DefinitionType describes the block `definition`.
var DefinitionType = &BlockType{
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
	Blocks: append([]*BlockType{InputType, OwnLocalsType}, overridable()...),
}

// overridable are the types of blocks of a definition that a service can override.
func overridable() []*BlockType {
	return []*BlockType{
		PortType, databaseType, QueueType, UserType, IdentityRoleType, SecretType, configType, JobType, WorkloadType, EndpointType, outputType, providesType, allowType, PatchType,
	}
}

// PortType describes the block `port`.
var PortType = &BlockType{
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

// InputType describes the block `input`: a value that a service gives to its definition.
var InputType = &BlockType{
	Name: "input", Label: "input", LabelForm: formIdentifier,
	Doc: "A value that a service gives to its definition, as the argument of that name. Read as input.NAME, in the definition and in the service's blocks.",
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
		{Name: "type", Type: TypeConstraint, Doc: "Type constraint, as of a variable. Without one, any value."},
		{Name: "default", Type: TypeAny, Doc: "Value when the service gives none. Without it the service must give one."},
		{Name: "description", Type: TypeLiteral, Doc: "What the input is for."},
		{Name: "sensitive", Type: TypeBool, Default: false, Doc: "The value is never shown and never stored."},
		{Name: "nullable", Type: TypeBool, Default: true, Doc: "Whether null is a value. If not, null means the default."},
	},
	Blocks: variableType.Blocks,
}

// MayBeInput reports whether an argument of a block may be the value of an input. Which
// inputs exist depends on the definition.
func (t *BlockType) MayBeInput(name string) bool { return t == ServiceType && t.Block(name) == nil }

// OwnLocalsType describes the block `locals` of a definition.
var OwnLocalsType = &BlockType{
	Name: "locals", AnyAttribute: true,
	Doc: "Names for expressions in the definition: every argument NAME is read there as local.NAME, before one of the module. They may refer to whatever the definition may refer to; what only a local value refers to that nothing reads is not needed.",
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

// FormPatched is the form of the label of a patch.
var (
	patchedKind = regexp.MustCompile(`^[A-Z][A-Za-z0-9]*$`)
	FormPatched = Form{
		"the kind of an object, a slash and its name or a pattern, such as Deployment/cinder-api or Deployment/*-api",
		func(s string) bool {
			kind, name, ok := strings.Cut(s, "/")
			_, err := path.Match(name, "")
			return ok && err == nil && name != "" && !strings.Contains(name, "/") && patchedKind.MatchString(kind)
		},
	}
)

// PatchType describes the block `patch`.
var PatchType = &BlockType{
	Name: "patch", Label: "patch", LabelForm: FormPatched,
	Doc: "Fields of objects that kolla makes: anything that Kubernetes knows and this language has no word for. The label is KIND/NAME, where `*` and `?` in the name stand for anything; names that end with a hash are written without it. See [Patches](#patches).",
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
		{Name: "object", Type: TypeObject, Required: true, Doc: "The part, without apiVersion, kind and name. It is merged as a server-side apply would: maps by key, lists of what has names by name, any other list as a whole. `null` takes a field away."},
	}),
}
