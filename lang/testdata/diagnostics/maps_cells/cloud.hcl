cloud "prod" {
  release = "2025.1"
}

service "compute" {}

definition "compute" {
  secret "api" {}

  workload "api" {
    kind  = "Deployment"
    image = "registry.example.org/nova:1"
  }

  job "cells" {
    image = "registry.example.org/nova:1"

    maps_cells {
      addresses = ["maria-server-0.maria-server.openstack:3306"]
      username  = "nova_api"
      password  = secret.api.value
      database  = "nova_api"
      cells     = [{ name = "cell0", uuid = secret.api.value }]
    }
  }

  job "more-cells" {
    image = "registry.example.org/nova:1"

    maps_cells {
      addresses = ["maria-server-0.maria-server.openstack:3306"]
      username  = "nova_api"
      password  = secret.api.value
      database  = "nova_api"
      cells     = "cell0"
    }
  }
}
