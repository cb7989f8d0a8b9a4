# Every word of a definition, used in a valid way.
cloud "words" {
  release = "2025.2"

  defaults {
    workload {
      tolerations = [{ key = "dedicated", value = "cloud" }, { operator = "Exists", effect = "NoExecute" }]
    }
  }
}

definition "store" {
  input "stores" {
    type    = map(object({ type = string, pool = optional(string, "images") }))
    default = { file = { type = "file" } }

    validation {
      condition     = length(input.stores) > 0
      error_message = "There must be a store."
    }
  }

  input "debug" {
    type     = bool
    default  = true
    nullable = false
  }

  input "token" {
    type      = string
    default   = "x"
    sensitive = true
  }

  input "label" {}

  input "server" {
    default = "mariadb"
  }

  locals {
    cluster = self.replicas > 1
    others  = [for name in ["keystone", "store", "memcached"] : name if contains(cloud.services, name)]
    cache   = try(service.memcached.address, "none")
    lost    = try(service.nowhere.address, local.mode)
    mode    = local.cluster ? "many" : "one"
    unread  = service.elsewhere.host
  }

  port "http" {
    number = 80
  }

  port "cluster" {
    enabled = local.cluster
    number  = 81
  }

  config "store.conf" {
    path   = "/etc/store.conf"
    values = merge({ DEFAULT = { stores = keys(input.stores), debug = input.debug, token = input.token } }, { for name, s in input.stores : name => s })
  }

  secret "key" {}

  config "base.conf" {
    path        = "/etc/base.conf"
    secret_path = "/etc/base.conf.d/secrets.conf"
    mode        = "0400"
    values = {
      DEFAULT  = { a = 1, b = service.memcached.host }
      database = { connection = database.store.url }
      cache    = { key = secret.key.value }
    }
  }

  config "derived.conf" {
    from   = "base.conf"
    values = { database = null, cache = { key = "none" } }
  }

  config "job.conf" {
    from = "base.conf"
    only = ["database"]
  }

  config "policy.yaml" {
    format   = "yaml"
    path     = "/etc/policy.yaml"
    optional = true
  }

  config "tree.json" {
    format = "json"
    path   = "/etc/tree.json"
    values = { a = { b = { c = 1, d = [1, 2] }, e = {} }, key = secret.key.value, gone = { x = 1 }, flat = { x = 1 } }
  }

  database "store" {
    name   = "store_${replace(self.name, "-", "_")}"
    server = input.server
  }

  job "sync" {
    image  = "store"
    config = ["job.conf"]
  }

  workload "api" {
    kind        = "Deployment"
    image       = "store"
    replicas    = 2
    priority    = "system-cluster-critical"
    spread      = "required"
    tolerations = [{ key = "dedicated", value = "cloud" }, { key = "own", operator = "Exists" }]
    ports       = ["http", "cluster"]
    config      = ["store.conf", "derived.conf", "policy.yaml", "tree.json"]
    env = {
      LABEL  = input.label
      OTHERS = join(",", local.others)
      CACHE  = local.cache
      LOST   = local.lost
      THERE  = can(service.nowhere.host)
      URL    = self.ports.http.url
      MORE   = service.mariadb.ports.mysql.address
      PEERS  = join(",", service.mariadb.members.server)
    }
  }
}

service "store" {
  stores = { rbd = { type = "rbd" }, file = { type = "file", pool = "none" } }
  debug  = null
  label  = "first"

  config "base.conf" {
    values = { DEFAULT = { a = 2 }, database = { max_retries = 5 } }
  }

  config "policy.yaml" {
    values = { "a:b" = "role:admin" }
  }

  config "tree.json" {
    values = { a = { b = { c = 2, d = [3] } }, gone = null, flat = "now" }
  }
}

service "mariadb" {}

service "plain" {
  definition = "store"
  label      = 2

  workload "api" {
    replicas    = 1
    priority    = null
    spread      = "preferred"
    spread_by   = "topology.kubernetes.io/zone"
    tolerations = [{ key = "more", value = true }]
    env         = { LABEL = "more than ${input.label}" }
  }
}

service "memcached" {}

service "keystone" {
  enabled = false
}
