cloud "c" {
  release = "2025.1"
}

manifest "registry" {
  object = {
    apiVersion = "v1"
    kind       = "ConfigMap"
    metadata   = { name = "registry" }
    data       = { host = "registry.example.org" }
  }
}

data "registry" {
  kind       = "ConfigMap"
  name       = "registry"
  depends_on = [manifest.registry]

  lifecycle {
    postcondition {
      condition     = self.object.data["host"] != ""
      error_message = "The registry has no host."
    }
  }
}

# Known: what it depends on made it already.
data "present" {
  kind       = "ConfigMap"
  name       = "present"
  depends_on = [manifest.registry]
}

# The plan changes it.
data "overtaken" {
  kind       = "ConfigMap"
  name       = "overtaken"
  depends_on = [manifest.registry]
}

# Its name is known later.
data "credentials" {
  kind = "Secret"
  name = data.registry.object.data["secret"]
}

# So is its kind.
data "widgets" {
  kind       = "Widget"
  labels     = { app = "x" }
  depends_on = [manifest.registry]
}

locals {
  host    = try(data.registry.object.data["host"], "none")
  known   = { host = local.host, port = 5000 }
  decided = true ? "here" : data.registry.object.data["host"]
}

service "memcached" {}
service "mariadb" {}

service "keystone" {
  config "keystone.conf" {
    values = {
      DEFAULT = {
        host    = "http://${local.host}:${local.known.port}"
        port    = local.known.port
        decided = local.decided
        exists  = data.registry.exists
        list    = ["a", data.registry.object.data["host"], data.present.object.data["host"]]
        lines   = [["a"], [data.overtaken.object.data["host"]]]
        names   = [for w in data.widgets.objects : w.metadata.name]
      }
      secret = {
        key    = data.credentials.object.data["key"]
        origin = data.credentials.object.metadata.name
        kind   = data.credentials.object.kind
      }
    }
  }

  config "policy.json" {
    content = jsonencode({ host = local.host })
  }

  workload "api" {
    env = {
      HOST = local.host
      KEY  = data.credentials.object.data["key"]
    }
  }
}

manifest "next" {
  object = {
    apiVersion = "v1"
    kind       = "Service"
    metadata   = { name = "next", annotations = { host = local.host } }
    spec       = { externalName = local.host, ports = [{ port = data.registry.object.data["port"] }] }
  }
}

manifest "copy" {
  object = {
    apiVersion = "v1"
    kind       = "Secret"
    metadata   = { name = "copy" }
    stringData = { key = data.credentials.object.data["key"], plain = "x" }
  }
}

output "host" {
  value = local.host
}

# It is there, and not yet as it has to be.
data "unmet" {
  kind       = "ConfigMap"
  name       = "present"
  depends_on = [manifest.registry]

  lifecycle {
    postcondition {
      condition     = self.object.data["host"] == "new"
      error_message = "The host is ${self.object.data["host"]}."
    }
  }
}

output "unmet" {
  value = data.unmet.object.data["host"]
}
