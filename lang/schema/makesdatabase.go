package schema

import "kolla.openstack.org/kolla/lang/schema/forms"

// forwarded continues a sentence about a plan that reads the results of a job.
const forwarded = " through a forwarded port of a pod, and shows each difference. An apply then runs the job again, so the job has to repair differences, and may run at any time. A plan reads nothing if a pod is in another namespace than the cloud, or before the job has completed. [Drift](../drift.md#registrations) lists the compared fields."

// makesDatabaseType describes the block `makes_database` of a job.
var makesDatabaseType = &BlockType{
	Name: "makes_database", Single: true,
	Doc: "The job makes this database in MariaDB, with its user. A plan reads both" + forwarded,
	Example: `definition "maria" {
  port "mysql" {
    number = 3306
  }

  secret "root" {}

  workload "server" {
    kind  = "StatefulSet"
    image = "registry.example.org/mariadb:11.4"
    ports = ["mysql"]
  }

  provides "database" {
    job "create" {
      image   = "registry.example.org/mariadb:11.4"
      command = ["create-database", database.name]

      makes_database {
        addresses     = [for member in self.members.server : "${member}:${port.mysql}"]
        username      = "root"
        password      = secret.root.value
        name          = database.name
        character_set = "utf8mb4"
        user          = database.user
        user_password = database.password
        privileges    = ["SELECT", "INSERT", "UPDATE", "DELETE"]
      }
    }
  }
}
`,
	Attributes: conditional([]Attribute{
		{Name: "addresses", Type: TypeList, Required: true, Form: forms.Plain, Doc: "Addresses of the server's pods, which belong to a StatefulSet, each with its port. The first pod that answers is asked. None: a plan does not look."},
		{Name: "username", Type: TypeString, Default: "root", Form: forms.Plain, Doc: "Name of an administrator, who may read the tables of users and privileges."},
		{Name: "password", Type: TypeText, Required: true, Doc: "Password of the administrator: the value of a secret."},
		{Name: "name", Type: TypeString, Required: true, Doc: "Name of the database."},
		{Name: "character_set", Type: TypeString, Form: forms.Plain, Doc: "Character set of new tables. Without it, the character set is not compared."},
		{Name: "user", Type: TypeString, Doc: "Name of the user, who may log in from everywhere (`%`)."},
		{Name: "user_password", Type: TypeText, Doc: "Password of the user: the value of a secret. It is compared with the hash in the server, without a login. Without it, the password is not compared."},
		{Name: "privileges", Type: TypeList, Form: forms.Plain, Doc: "Privileges that the user must have for the database, in the words of GRANT; by default ALL PRIVILEGES."},
	}),
}
