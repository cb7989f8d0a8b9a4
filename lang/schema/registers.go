package schema

import "kolla.openstack.org/kolla/lang/schema/forms"

// registersType describes the block `registers` of a job.
var registersType = &BlockType{
	Name: "registers", Single: true,
	Doc: "The job registers these users, roles and endpoints with Keystone. A plan reads them from Keystone, through the API server, and shows each difference. An apply with a difference runs the job again. So the job must repair differences, and may run at any time. A plan does not look if the host of `url` is no Service in the namespace of the cloud, or as long as the job has not completed. [Drift](../drift.md#registrations) says what is compared.",
	Example: `definition "directory" {
  port "http" {
    number = 8080
  }

  secret "admin" {}

  workload "api" {
    kind  = "Deployment"
    image = "registry.example.org/directory:1"
    ports = ["http"]
  }

  provides "registration" {
    job "register" {
      image   = "registry.example.org/directory-client:1"
      command = ["register", jsonencode(registration.endpoints)]

      registers {
        url       = "${self.url}/v3"
        username  = "admin"
        password  = secret.admin.value
        region    = cloud.region
        owner     = registration.owner
        users     = registration.users
        roles     = registration.roles
        endpoints = registration.endpoints
      }
    }
  }
}
`,
	Attributes: conditional([]Attribute{
		{Name: "url", Type: TypeString, Required: true, Form: forms.Plain, Doc: "URL of Keystone for clients in the cluster, with the version of the API."},
		{Name: "username", Type: TypeString, Default: "admin", Form: forms.Plain, Doc: "Name of an administrator in the domain Default, who has the project of the same name."},
		{Name: "password", Type: TypeText, Required: true, Doc: "Password of the administrator: the value of a secret."},
		{Name: "region", Type: TypeString, Required: true, Form: forms.Plain, Doc: "Region of the endpoints."},
		{Name: "owner", Type: TypeString, Form: forms.Plain, Doc: "Name that the job puts on what it registers, after `Managed by kolla: `. Without it, only the existence and the URL of endpoints are compared."},
		{Name: "users", Type: TypeAny, Value: "list of objects", Doc: "The users, each with name, domain, project and roles, as in registration.users."},
		{Name: "roles", Type: TypeList, Form: forms.Plain, Doc: "Further roles."},
		{Name: "endpoints", Type: TypeAny, Value: "list of objects", Doc: "The services and their endpoints, each with type, name, url and public_url, as in registration.endpoints."},
	}),
}
