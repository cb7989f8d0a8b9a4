cloud "test" {
  release = "2025.1"
}

exposure "public" {
  vip        = "192.0.2.10"
  node_ports = "31000-32000"
}

role "compute" {
  nodes = ["a"]
}

service "mariadb" {
  replicas = 3
}

service "memcached" {
  replicas = 1.5
  images   = { memcache = "example.org/memcached:1" }
  workload "sever" {
  }
  port "memcache" {
    node_port = 70000
  }
}

service "cache" {
  definition = "memcache"
}

service "cache2" {
  definition = local.name
}

locals {
  name = "memcached"
}

service "keystone" {
  expose   = exposure.public
  replicas = -1
  config "keystone.cnf" {
    values = {}
  }
  config "policy.json" {
    values = {}
  }
  config "keystone.conf" {
    content = "x"
  }
  workload "api" {
    update = "on-delete"
    resources {
      limits = { cpu = "many" }
    }
  }
}

service "identity" {
  definition = "keystone"
  expose     = exposure.public
}

service "agent" {
  workload "agent" {
    replicas = 2
  }
}
