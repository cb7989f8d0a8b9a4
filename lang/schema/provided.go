package schema

import "slices"

// Forms for the blocks that a service has on another service.
var (
	formProvides = Form{`one of "database", "queue", "registration" and "user"`, func(s string) bool { return slices.Contains(provisions, s) }}
	formRole     = Form{"a text without spaces", formPlain.Valid}
)

// provisions are the kinds of things that a service can provide to others.
var provisions = []string{"database", "queue", "registration", "user"}

const serverDoc = "Name of the service that has it."

// UserType describes the block `user`.
var UserType = &BlockType{
	Name: "user", Label: "user", LabelForm: formDatabase,
	Doc: "A user of the service in Keystone, as which it checks tokens and logs in to other services. Its password is a generated secret, `user-NAME`, with dashes for underscores. Two services cannot share one.",
	Example: `definition "status" {
  user "status" {
    server = "keystone"
    name   = "status-${cloud.name}"
    roles  = ["admin", "service"]
  }

  user "status_domain_admin" {
    domain = "status"
    roles  = ["admin"]
  }

  config "status.conf" {
    path   = "/etc/status/status.conf"
    values = { keystone_authtoken = merge(user.status.auth, user.status.authtoken) }
  }
}
`,
	ReadAs: "user.NAME",
	Reads: []Reading{
		{"name", "Its name."},
		{"password", "Its password, a secret."},
		{"domain", "Name of the domain that it is in."},
		{"project", "Name of the project in which it has its roles; null where they are for the domain."},
		{"auth", "What the server's definition provides: how it logs in, as config values."},
		{"authtoken", "What the server's definition provides: what it takes beside that to check the tokens of others."},
		{"password_file", "Where its password is below the `passwords` of the job that makes it."},
	},
	Attributes: conditional([]Attribute{
		{Name: "server", Type: TypeLiteral, Default: "keystone", Doc: serverDoc},
		{Name: "name", Type: TypeString, Form: formPlain, Doc: "Its name; by default the label."},
		{Name: "roles", Type: TypeList, Form: formRole, Doc: "Its roles: in the project service, or for the domain that is said."},
		{Name: "domain", Type: TypeString, Form: formPlain, Doc: "A domain of its own, in which it is, and for which it has its roles. By default it is in the domain Default."},
	}),
}

// QueueType describes the block `queue`.
var QueueType = &BlockType{
	Name: "queue", Label: "queue", LabelForm: formDatabase,
	Doc: "A virtual host on a message queue, with a user of the same name. The password is a generated secret, `queue-NAME`, with dashes for underscores. Two services cannot share one.",
	Example: `definition "status" {
  queue "status" {
    server = "rabbitmq"
    name   = self.name
  }

  config "status.conf" {
    path = "/etc/status/status.conf"
    values = {
      DEFAULT               = { transport_url = queue.status.url }
      oslo_messaging_rabbit = queue.status.settings
    }
  }
}
`,
	ReadAs: "queue.NAME",
	Reads: []Reading{
		{"name", "Its name."},
		{"user", "Name of the user."},
		{"password", "Password of the user, a secret."},
		{"host", "DNS name of the server."},
		{"port", "Port of the server."},
		{"url", "What the server's definition provides: the connection with user and password."},
		{"settings", "What the server's definition provides: config values of section oslo_messaging_rabbit."},
		{"password_file", "Where the password is below the `passwords` of the job that makes it."},
	},
	Attributes: conditional([]Attribute{
		{Name: "server", Type: TypeLiteral, Default: "rabbitmq", Doc: serverDoc},
		{Name: "name", Type: TypeString, Form: formQueue, Doc: "Its name, and its user's; by default the label."},
	}),
}

// IdentityRoleType describes the block `identity_role`.
var IdentityRoleType = &BlockType{
	Name: "identity_role", Label: "role in Keystone", LabelForm: formPlain,
	Doc: "A role that the service expects in Keystone, beside those that its users have. It stays when nothing declares it any more: others may have it.",
	Example: `definition "status" {
  identity_role "status_reader" {
    server = "keystone"
  }
}
`,
	Attributes: conditional([]Attribute{
		{Name: "server", Type: TypeLiteral, Default: "keystone", Doc: serverDoc},
	}),
}

// EndpointType describes the block `endpoint`.
var EndpointType = &BlockType{
	Name: "endpoint", Label: "endpoint", LabelForm: formIdentifier,
	Doc: "A service and its endpoints, internal and public, in Keystone's catalogue. The label is the type of the service. It is registered when the workloads are ready. In a definition that has a `provides \"registration\"` itself nothing is registered: it can be read.",
	Example: `definition "status" {
  port "http" {
    number = 8080
  }

  workload "web" {
    kind  = "Deployment"
    image = "registry.example.org/status:1"
    ports = ["http"]
  }

  endpoint "status" {
    server = "keystone"
    name   = "status-page"
    port   = "http"
    path   = "/v1/%(tenant_id)s"
  }
}
`,
	ReadAs: "endpoint.TYPE",
	Reads: []Reading{
		{"type", "Type of the service."},
		{"name", "Name of the service."},
		{"url", "URL for clients in the cluster."},
		{"public_url", "URL for clients outside."},
	},
	Attributes: conditional([]Attribute{
		{Name: "server", Type: TypeLiteral, Default: "keystone", Doc: serverDoc},
		{Name: "name", Type: TypeString, Form: formPlain, Doc: "Name of the service in the catalogue; by default the name of the definition."},
		{Name: "port", Type: TypeString, Required: true, Doc: "Name of the port."},
		{Name: "path", Type: TypeString, Default: "", Form: formURLPath, Doc: "What follows host and port in the URL."},
	}),
}

// providedWhenAttribute is the time at which a job of a provides block runs.
var providedWhenAttribute = Attribute{Name: "when", Type: TypeString, Default: "before", OneOf: []string{"before", "after", JobGone}, Doc: "Before or after the workloads of the other service. gone: once for this service itself, when it is ready, and again when other services have something on it; it takes away what services have left behind. In it, TYPE has: services (the names of those that have something on this one), names (of what they have; of users and endpoints: users, each with domain and name, and endpoints, each with type and name), and released (a removed block lets a service go, so that what it had stays)."}

// JobGone is the value of `when` of a job that deletes what removed services have left behind.
const JobGone = "gone"

var providesType = &BlockType{
	Name: "provides", Label: "provision", LabelForm: formProvides, AnyAttribute: true,
	Doc: "What blocks of other services become: those of the type that is the label, or for \"registration\" all their blocks `user`, `identity_role` and `endpoint` together. Every argument is read by the other service as TYPE.NAME.ARGUMENT, such as database.NAME.url. In the block, TYPE.name, TYPE.owner (CLOUD/SERVICE) and the like are the other service's (of a registration: owner, users, roles and endpoints); self, port and secret are the own ones.",
	Example: `definition "galera" {
  port "sql" {
    number = 3306
  }

  secret "root" {}

  workload "server" {
    kind  = "StatefulSet"
    image = "registry.example.org/galera:1"
    ports = ["sql"]
  }

  provides "database" {
    url = "mysql+pymysql://${database.user}:${database.password}@${self.address}/${database.name}"

    job "create" {
      when      = "before"
      attempts  = 10
      timeout   = 600
      image     = "registry.example.org/sql-client:1"
      command   = ["create-database", database.name, "--password-file=/run/secrets/passwords/${database.password_file}"]
      passwords = "/run/secrets/passwords"

      mount "root" {
        path = "/run/secrets/root"
      }
    }
  }

  provides "queue" {
    job "cleanup" {
      when    = "gone"
      image   = "registry.example.org/sql-client:1"
      command = ["drop-queues-unless", join(",", queue.names)]

      mount "root" {
        path = "/run/secrets/root"
      }
    }
  }
}
`,
	Attributes: conditional(nil),
	Blocks: []*BlockType{{
		Name: "job", Label: "job", LabelForm: formName,
		Doc: "Makes what the other service asks for, before anything else of it runs; it has to be safe to run again. With when = \"gone\" it takes that away again, see there.",
		Attributes: conditional(slices.Concat([]Attribute{
			providedWhenAttribute, attemptsAttribute, jobTimeoutAttribute,
			{Name: "passwords", Type: TypeString, Form: formPath, Doc: "Directory with the passwords of what it makes, each in a file that `password_file` names."},
		}, podAttributes)),
		Blocks: []*BlockType{MountType, resourcesType},
	}},
}
