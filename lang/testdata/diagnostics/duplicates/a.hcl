cloud "test" {
  release = "2025.1"
}

service "memcached" {
  port "memcache" {
    node_port = 30001
  }
  port "memcache" {
    node_port = 30002
  }
}

locals {
  x = 1
}
