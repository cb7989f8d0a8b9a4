cloud "features" {
  release      = "2026.1"
  namespace    = "stack"
  pull_secrets = ["quay"]
  prefix       = "custom-"

  defaults {
    config "*" {
      values = {
        DEFAULT  = { debug = true, workers = 2, self = self.host }
        "a.b"    = "for properties only"
        override = "by the cloud"
      }
    }
  }
}

variable "password" {
  sensitive = true
  default   = "hunter2"
}

locals {
  extra  = { provider = "jws", list = ["a", 1, true] }
  server = service.store
}

role "compute" {
  match = { kind = "compute" }
}

role "control" {
  nodes = [for n in [1, 2] : "ctl-${n}"]
}

exposure "public" {
  vip = "2001:db8::10"
}

service "mariadb" {}

# Another server of databases, of a definition that is used twice.
service "store" {
  definition = "mariadb"
  images     = { mariadb-server = "example.org/mariadb:11" }
}

service "memcached" {
  replicas = 4

  lifecycle {
    prevent_destroy = true
    yield_to        = ["acme-*"]
    force_conflicts = ["helm", "metadata.labels[\"app\"]"]
  }

  workload "server" {
    lifecycle {
      prevent_destroy = false
      ignore_fields   = ["spec.replicas", "spec.template.*"]
    }
  }
}

service "keystone" {
  expose   = exposure.public
  role     = role.control
  replicas = 2

  config "keystone.conf" {
    values = {
      token    = merge(local.extra, { "${"expi"}ration" = null })
      cache    = null
      DEFAULT  = { workers = null, transport = "rabbit://x:${var.password}@${local.server.host}", both = "${var.password}/${secret.admin.value}" }
      repeated = { option = [["a", "b"], ["c"]], empty = [], number = 1.50 }
      other    = { password = service.remote.password }
    }
  }

  config "policy.json" {
    content = jsonencode({ password = secret.admin.value })
  }

  workload "api" {
    replicas     = 5
    role         = role.compute
    host_network = true
    env = {
      LANG   = null
      SECRET = var.password
      SELF   = self.address
    }
    resources {
      requests = { cpu = 2 }
      limits   = { memory = "1Gi" }
    }
  }

  port "public" {
    node_port = 30501
  }
}

service "agent" {
  depends_on = [manifest.crd]

  config "agent.properties" {
    values = { c = null, d = "x" }
  }
}

definition "remote" {
  description = "Uses everything that a definition can use"

  port "api" {
    number = 80
  }

  database "remote_api" {
    server = "store"
  }

  secret "password" {
    length = 16
  }

  secret "cookie" {
    kind = "hex"
  }

  secret "id" {
    kind = "uuid"
  }

  config "remote.conf" {
    path   = "/etc/remote.conf"
    values = { main = { url = database.remote_api.url, host = database.remote_api.host, port = database.remote_api.port, user = local.extra.provider } }
  }

  job "after" {
    when     = "after"
    start    = "kolla"
    image    = "remote"
    args     = ["x"]
    attempts = 0
    writable = ["/tmp"]
    config   = ["remote.conf"]

    fatal_exit_codes = [3, 2, 3]

    mount "cookie" {
      path = "/cookie"
    }
  }

  workload "main" {
    kind         = "StatefulSet"
    image        = "example.org/remote:1"
    user         = 42
    ports        = ["api"]
    grace_period = 5

    init "first" {
      command = ["true"]
    }

    claim "data" {
      path          = "/data"
      size          = "1Gi"
      storage_class = "fast"
    }

    live {
      exec    = ["true"]
      period  = 1
      timeout = 2
      retries = 4
      delay   = 5
    }

    ready {
      tcp = "api"
    }
  }

  output "password" {
    value = secret.password.value
  }

  output "secret" {
    value = secret.cookie.name
  }

  output "replicas_of_others" {
    value = { memcached = service.memcached.replicas }
  }
}

service "remote" {}

manifest "crd" {
  files = ["objects/*.yaml"]
}

manifest "object" {
  depends_on = [service.agent]
  object = {
    apiVersion = "v1"
    kind       = "ConfigMap"
    metadata   = { name = "x", labels = null }
    data       = { address = service.memcached.address, file = file("objects/text") }
    number     = 3
    float      = 1.5
    list       = [1, "a", {}]
  }
}

manifest "secret" {
  object = {
    apiVersion = "v1"
    kind       = "Secret"
    metadata   = { name = "y" }
    stringData = { password = var.password }
  }
}

moved {
  from = service.past
  to   = service.memcached
}

moved {
  from = "manifest.past/ConfigMap/x"
  to   = "manifest.object/ConfigMap/x"
}

removed {
  from = manifest.gone
  lifecycle {
    destroy = false
  }
}

removed {
  from = role.gone
}

import {
  to = "manifest.object/ConfigMap/x"
  id = "openstack/x"
}
