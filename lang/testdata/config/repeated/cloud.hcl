cloud "prod" {
  release = "2025.1"
}

variable "caches" {
  type    = map(object({ replicas = optional(number, 1), debug = optional(bool) }))
  default = { users = { replicas = 2 }, images = {} }
}

variable "with_spare" {
  default = false
}

role "control" {
  nodes = ["ctl-1"]
}

role "rack" {
  for_each = toset(["a", "b"])
  nodes    = ["node-${each.key}"]
}

service "memcached" {
  for_each = var.caches
  role     = role.rack[each.key == "users" ? "a" : "b"]
  replicas = each.value.replicas
}

service "mariadb" {}

service "spare" {
  definition = "memcached"
  enabled    = var.with_spare
}

service "numbered" {
  definition = "memcached"
  count      = 2
  name       = "cache-${count.index + 1}"
  depends_on = [service.memcached["users"]]
}

definition "notes" {
  config "notes.conf" {
    path = "/etc/notes.conf"
  }

  workload "main" {
    kind   = "Deployment"
    image  = "notes"
    user   = 42400
    config = ["notes.conf"]
  }

  dynamic "port" {
    for_each = ["first", "second"]
    labels   = [port.value]

    content {
      number = 8000 + port.key
    }
  }
}

service "notes" {
  dynamic "config" {
    for_each = { "notes.conf" = 7, }
    iterator = file
    labels   = [file.key]

    content {
      values = { (file.key) = { size = file.value }, plain = { size = file.value, users = length(service.memcached) } }
    }
  }
}

service "mirror" {
  definition = "notes"
  config "notes.conf" {
    values = {
      cache = {
        one  = service.memcached["users"].address
        all  = join(",", [for name, s in service.memcached : "${name}=${s.host}"])
        last = service.numbered[1].host
        none = try(service.spare.host, "none")
      }
    }
  }
}

manifest "pair" {
  count = 2
  object = {
    apiVersion = "v1"
    kind       = "ConfigMap"
    metadata   = { name = "pair-${count.index}" }
  }
}
