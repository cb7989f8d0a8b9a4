cloud "test" {
  release = "2025.1"
}

service "keystone" {
  config "keystone.conf" {
    values = { cache = { backup = service.memcach.address } }
  }
}

service "agent" {}

locals {
  address = service.memcached.address
}
