cloud "test" {
  release = "2025.1"
}

variable "name" {
  default = "memcached"
}

definition "web" {
  workload "web" {
    kind  = "Deployment"
    image = "web"
    env   = { CACHE = service.memcached.address, DATABASE = service.mariadb.host }
  }
}

role "memcached" {
  nodes = ["n1"]
}

service "mariadb" {}

service "memcached" {}

service "cache" {
  definition = "memcached"
}

service "off" {
  definition = "memcached"
  enabled    = false
}

service "many" {
  for_each   = toset(["a", "b"])
  definition = "memcached"
}

# Fine, and memcached is not needed.
service "web" {
  with = { memcached = service.cache }
}

service "unknown" {
  definition = "web"
  with       = { memcache = service.cache, (var.name) = service.cache }
}

service "values" {
  definition = "web"
  with       = { memcached = role.memcached, mariadb = service.cache }
}

service "more" {
  definition = "web"
  with       = { memcached = service.many, mariadb = "mariadb" }
}

service "disabled" {
  definition = "web"
  with       = { memcached = service.off }
}

service "computed" {
  definition = "web"
  with       = merge({}, { memcached = service.cache })
}

service "own" {
  definition = "web"
  with       = { memcached = service.own }
}

service "there" {
  definition = "memcached"
  external   = { host = "cache.example.org" }
  with       = { memcached = service.cache }
}
