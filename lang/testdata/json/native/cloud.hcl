cloud "prod" {
  release = "2025.1"

  defaults {
    config "*.conf" {
      values = { DEFAULT = { debug = false } }
    }
  }
}

variable "sizes" {
  type    = map(object({ replicas = optional(number, 1) }))
  default = { a = {}, b = { replicas = 2 } }
}

locals {
  greeting = "hello, ${cloud.name}"
  empty    = {}
  none     = []
}

role "control" {
  nodes = ["ctl-1", "ctl-2"]
}

service "mariadb" {}

service "memcached" {}

service "cache" {
  definition = "memcached"
  for_each   = var.sizes
  replicas   = each.value.replicas
  role       = role.control
  depends_on = [service.mariadb]

  lifecycle {
    prevent_destroy = true
    ignore_fields   = ["spec.replicas"]
  }
}

service "keystone" {
  config "keystone.conf" {
    values = {
      cache = {
        memcache_servers = service.cache["a"].address
        enabled          = true
        size             = 12
        list             = ["one", "two ${upper(cloud.name)}"]
      }
    }
  }
}

manifest "object" {
  object = {
    apiVersion = "v1"
    kind       = "ConfigMap"
    metadata   = { name = "greeting" }
    data       = { "${cloud.name}.txt" = "${local.greeting} $${not this}" }
  }
}

output "greeting" {
  value = local.greeting
}
