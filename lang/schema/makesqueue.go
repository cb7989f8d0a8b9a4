package schema

import "kolla.openstack.org/kolla/lang/schema/forms"

// makesQueueType describes the block `makes_queue` of a job.
var makesQueueType = &BlockType{
	Name: "makes_queue", Single: true,
	Doc: "The job makes this virtual host in RabbitMQ, and a user with the same name and all permissions there. A plan reads both from the management API" + forwarded,
	Example: `definition "broker" {
  port "management" {
    number = 15672
  }

  secret "admin" {}

  workload "server" {
    kind  = "StatefulSet"
    image = "registry.example.org/rabbitmq:4"
    ports = ["management"]
  }

  provides "queue" {
    job "create" {
      image   = "registry.example.org/rabbitmq:4"
      command = ["create-queue", queue.name]

      makes_queue {
        addresses     = [for member in self.members.server : "${member}:${port.management}"]
        username      = "admin"
        password      = secret.admin.value
        name          = queue.name
        owner         = queue.owner
        user_password = queue.password
      }
    }
  }
}
`,
	Attributes: conditional([]Attribute{
		{Name: "addresses", Type: TypeList, Required: true, Form: forms.Plain, Doc: "Addresses of the server's pods, which belong to a StatefulSet, each with the port of the management API (HTTP). The first pod that answers is asked. None: a plan does not look."},
		{Name: "username", Type: TypeString, Default: "admin", Form: forms.Plain, Doc: "Name of an administrator."},
		{Name: "password", Type: TypeText, Required: true, Doc: "Password of the administrator: the value of a secret."},
		{Name: "name", Type: TypeString, Required: true, Doc: "Name of the virtual host and of the user."},
		{Name: "owner", Type: TypeString, Doc: "Name that the job puts on the virtual host, after `Managed by kolla: `. Without it, the description is not compared."},
		{Name: "user_password", Type: TypeText, Doc: "Password of the user: the value of a secret. It is compared with the hash in the server, without a login. Without it, the password is not compared."},
	}),
}
