cloud "test" {
  release = null
}

variable "nothing" {
  default = null
}

role "a" {
  nodes  = null
  labels = { a = null }
}

role "b" {
  match = null
  nodes = ["x"]
}

exposure "public" {
  vip   = null
  nodes = null
}

service "mariadb" {
  role     = null
  replicas = null
  expose   = var.nothing
}

service "memcached" {
  images   = null
  replicas = 1e400
  workload "server" {
    env      = null
    role     = null
    replicas = 1001
  }
}

service "keystone" {
  images = { keystone = null }
  config "keystone.conf" {
    values = null
  }
  config "policy.json" {
    content = null
  }
}

definition "own" {
  config "own.conf" {
    path   = null
    values = 1
  }
  workload "w" {
    kind  = null
    image = "own"
    env   = [1]
    ports = null
    live {
      tcp = null
    }
  }
  output "x" {
    value = null
  }
}

service "own" {}

manifest "object" {
  object = null
}

manifest "files" {
  files = null
}

manifest "number" {
  object = { apiVersion = "v1", kind = "ConfigMap", metadata = { name = "x" }, n = 1e400 }
}

locals {
  x = service.own.x
}
