cloud "c" {
  release = "2025.1"
}

variable "password" {
  sensitive = true
  default   = "hunter2"
}

service "mariadb" {
  replicas = 2

  workload "server" {
    max_replicas = 2
  }

  lifecycle {
    precondition {
      condition     = self.replicas == 3
      error_message = "There are ${self.replicas} replicas of ${self.name}."
    }
  }
}

service "memcached" {}
service "keystone" {}

output "secret" {
  value = { a = [var.password] }
}

output "said" {
  value     = var.password
  sensitive = true
}

output "shown" {
  value = nonsensitive(var.password) == "x"

  precondition {
    condition     = var.password == "x"
    error_message = "It is ${var.password}."
  }
}

output "nothing" {
}

check "odd" {
  assert {
    condition     = service.mariadb.replicas % 2 == 1
    error_message = "An even number of members cannot agree."
  }

  assert {
    condition     = "perhaps"
    error_message = "x"
  }

  assert {
    condition     = service.nothing.replicas == 1
    error_message = "x"
  }
}

secret "token" {}

output "generated" {
  value = secret.token.value
}

secret "edge" {
  kind = "x509-ca"
}

output "certificate" {
  value = secret.edge.certificate
}
