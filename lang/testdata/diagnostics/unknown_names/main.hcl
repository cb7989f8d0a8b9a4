cloud "test" {
  release    = "2025.1"
  namspace   = "openstack"
  defaults   = {}
  completely = "different"
}

replicas = 3

servce "memcached" {
}

service {
}

service "a" "b" {
}

locals "x" {
}

service "memcached" {
  replicas {
  }
  confg "x" {
  }
}

module "x" {
}

resource "a" {
}

terraform {
}
