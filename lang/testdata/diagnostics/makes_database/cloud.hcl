cloud "prod" {
  release = "2025.1"
}

service "maria" {}

definition "maria" {
  secret "root" {}

  workload "server" {
    kind  = "StatefulSet"
    image = "registry.example.org/mariadb:11.4"
  }

  job "create" {
    image = "registry.example.org/mariadb:11.4"

    makes_database {
      addresses     = ["maria-server-0.maria-server.openstack:3306", "maria:3306", "maria-server-1.maria-server.openstack"]
      password      = "root's"
      name          = "books"
      user_password = secret.root.value
      privileges    = ["SELECT"]
    }
  }
}
