cloud "prod" {
  release = "2025.1"
}

service "broker" {}

definition "broker" {
  secret "admin" {}

  workload "server" {
    kind  = "StatefulSet"
    image = "registry.example.org/rabbitmq:4"
  }

  job "create" {
    image = "registry.example.org/rabbitmq:4"

    makes_queue {
      addresses     = ["broker:15672"]
      password      = secret.admin.value
      name          = "books"
      user_password = "guest"
    }
  }
}
