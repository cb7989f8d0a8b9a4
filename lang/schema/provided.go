package schema

import (
	"slices"

	"kolla.openstack.org/kolla/lang/schema/forms"
)

// formProvides is the form of the label of a provides block.
var formProvides = forms.Form{
	Expected: `one of "database", "queue", "registration" and "user"`,
	Valid:    func(s string) bool { return slices.Contains(provisions, s) },
}

// provisions are the kinds of things that a service can provide to others.
var provisions = []string{"database", "queue", "registration", "user"}

const serverDoc = "Name of the service that has it."

// UserType describes the block `user`.
var UserType = &BlockType{
	Name: "user", Label: "user", LabelForm: forms.Database,
	Doc: "A Keystone user of the service. The service checks tokens with it, and logs in to other services. kolla generates its password as the secret `user-NAME`, with dashes for underscores. Two services cannot share a user.",
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
		{Name: "name", Type: TypeString, Form: forms.Plain, Doc: "Name of the user; by default the label."},
		{Name: "roles", Type: TypeList, Form: forms.Plain, Doc: "Roles of the user: in the project `service`, or for its domain."},
		{Name: "domain", Type: TypeString, Form: forms.Plain, Doc: "Domain of its own, for which the user has its roles. By default the user is in the domain Default."},
	}),
}

// QueueType describes the block `queue`.
var QueueType = &BlockType{
	Name: "queue", Label: "queue", LabelForm: forms.Database,
	Doc: "A virtual host on a message queue, with a user of the same name. kolla generates the password as the secret `queue-NAME`, with dashes for underscores. Two services cannot share one.",
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
		{Name: "name", Type: TypeString, Form: forms.Queue, Doc: "Name of the virtual host and of its user; by default the label."},
	}),
}

// IdentityRoleType describes the block `identity_role`.
var IdentityRoleType = &BlockType{
	Name: "identity_role", Label: "role in Keystone", LabelForm: forms.Plain,
	Doc: "A Keystone role that the service needs, in addition to the roles of its users. It stays when nothing declares it any more, because others may have it.",
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
	Name: "endpoint", Label: "endpoint", LabelForm: forms.Identifier,
	Doc: "A service and its internal and public endpoints in Keystone's catalogue. The label is the type of the service. kolla registers it when the workloads are ready. In a definition with a `provides \"registration\"` of its own, kolla registers nothing; expressions can read the endpoint.",
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
		{Name: "name", Type: TypeString, Form: forms.Plain, Doc: "Name of the service in the catalogue; by default the name of the definition."},
		{Name: "port", Type: TypeString, Required: true, Doc: "Name of the port."},
		{Name: "path", Type: TypeString, Default: "", Form: forms.URLPath, Doc: "Path of the URL, after host and port."},
	}),
}

// providedWhenAttribute is the time at which a job of a provides block runs.
var providedWhenAttribute = Attribute{Name: "when", Type: TypeString, Default: "before", OneOf: []string{"before", "after", JobGone}, Doc: "Before or after the workloads of the other service. gone: once for this service itself, when it is ready, and again when the set of services that use it changes; the job removes what services have left behind. In the job, TYPE has: services (the names of the services that use this one), names (of what they use; for users and endpoints: users, each with domain and name, and endpoints, each with type and name), and released (services that a removed block lets go, so that what they had stays)."}

// JobGone is the value of `when` of a job that deletes what removed services have left behind.
const JobGone = "gone"

var providesType = &BlockType{
	Name: "provides", Label: "provision", LabelForm: formProvides, AnyAttribute: true,
	Doc: "Other services ask for a database, a queue or a user with a block. This block contains the jobs that create them. The label is the type of the blocks; \"registration\" stands for all `user`, `identity_role` and `endpoint` blocks together. The other service reads every argument as TYPE.NAME.ARGUMENT, such as database.NAME.url. In the block, TYPE.name, TYPE.owner (CLOUD/SERVICE) and so on belong to the other service (for a registration: owner, users, roles and endpoints); self, port and secret belong to this one.",
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
		Name: "job", Label: "job", LabelForm: forms.Name,
		Doc: `Makes what the other service asks for, before anything else of that service runs. The job must be safe to run again. With when = "gone" it removes things; see there.`,
		Attributes: conditional(slices.Concat([]Attribute{
			providedWhenAttribute, attemptsAttribute, jobTimeoutAttribute,
			{Name: "passwords", Type: TypeString, Form: forms.Path, Doc: "Directory with the passwords of what the job makes, each in the file that `password_file` names."},
		}, podAttributes)),
		Blocks: []*BlockType{MountType, resourcesType, registersType, makesDatabaseType, mapsCellsType, makesQueueType},
	}},
}
