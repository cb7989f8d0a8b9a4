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

    lifecycle {
      precondition {
        condition     = self.replicas == 5
        error_message = "The workload of the service says so."
      }
    }
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

definition "pair" {
  workload "server" {
    kind  = "StatefulSet"
    image = "registry.example.org/pair:1"

    lifecycle {
      precondition {
        condition     = self.replicas != 2
        error_message = "The definition of ${self.name} says so."
      }
    }
  }
}

service "pair" { replicas = 2 }
