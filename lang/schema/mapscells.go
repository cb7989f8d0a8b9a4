package schema

import "kolla.openstack.org/kolla/lang/schema/forms"

// mapsCellsType describes the block `maps_cells` of a job.
var mapsCellsType = &BlockType{
	Name: "maps_cells", Single: true,
	Doc: "The job makes these cells known to Nova (`nova-manage cell_v2`). A plan reads the table of cells through a forwarded port of a pod of MariaDB, and shows each difference. An apply with a difference runs the job again. So the job must repair differences, and may run at any time. A plan does not look if a pod is not in the namespace of the cloud, or as long as the job has not completed. [Drift](../drift.md#registrations) says what is compared.",
	Example: `definition "compute" {
  database "nova_api" {
    server = "mariadb"
  }
  database "nova_cell0" {
    server = "mariadb"
  }

  job "cells" {
    image   = "registry.example.org/nova:1"
    command = ["map-cells"]

    maps_cells {
      addresses = database.nova_api.addresses
      username  = database.nova_api.user
      password  = database.nova_api.password
      database  = database.nova_api.name
      cells = [{
        name                = "cell0"
        uuid                = "00000000-0000-0000-0000-000000000000"
        transport_url       = "none:///"
        database_connection = database.nova_cell0.url
      }]
    }
  }
}
`,
	Attributes: conditional([]Attribute{
		{Name: "addresses", Type: TypeList, Required: true, Form: forms.Plain, Doc: "Addresses of the pods of MariaDB, as in [`makes_database`](makes_database.md). Databases of the catalogue have them as database.NAME.addresses."},
		{Name: "username", Type: TypeString, Required: true, Doc: "Name of a user who may read the database."},
		{Name: "password", Type: TypeText, Required: true, Doc: "Password of the user: the value of a secret."},
		{Name: "database", Type: TypeString, Required: true, Doc: "Name of the database of Nova's API."},
		{Name: "cells", Type: TypeAny, Required: true, Value: "list of objects", Doc: "The cells, each with name, and perhaps uuid, transport_url and database_connection, as Nova stores them. The URLs may contain secrets."},
	}),
}
