cloud "prod" {
  release = "2025.1"
}

service "directory" {}

definition "directory" {
  secret "admin" {}

  workload "api" {
    kind  = "Deployment"
    image = "registry.example.org/directory:1"
  }

  job "register" {
    image = "registry.example.org/directory-client:1"

    registers {
      url      = "http://directory.openstack:8080/v3"
      password = "${secret.admin.value}!"
      region   = cloud.region
    }
  }
}
