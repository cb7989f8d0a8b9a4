cloud "c" {
  release = "2025.1"
}

data "registry" {
  kind = "ConfigMap"
  name = "registry"

  lifecycle {
    postcondition {
      condition     = can(self.object.data["host"])
      error_message = "The registry has no host."
    }
  }
}

data "ceph" {
  kind        = "Secret"
  api_version = "v1"
  name        = "ceph"
  namespace   = "storage"
}

data "zone" {
  for_each = toset(["a", "b"])
  kind     = "Node"
  labels   = { zone = each.key }
}

data "gone" {
  kind     = "ConfigMap"
  name     = "gone"
  optional = true
}

role "zone" {
  for_each = { for key, zone in data.zone : key => [for node in zone.objects : node.metadata.name] }
  nodes    = each.value
}

service "memcached" {}
service "mariadb" {
  replicas = length(data.zone["b"].objects)
}

service "keystone" {
  config "keystone.conf" {
    values = {
      DEFAULT = {
        host    = data.registry.object.data["host"]
        ports   = data.registry.object.data["ports.conf"]
        present = data.gone.exists
      }
      ceph = { key = data.ceph.object.data.key }
    }
  }
}

manifest "copy" {
  object = {
    apiVersion = "v1"
    kind       = "Secret"
    metadata   = { name = "copy" }
    stringData = data.ceph.object.data
  }
}

output "metadata" {
  value = data.registry.object.metadata
}

output "binary" {
  value     = data.ceph.object.binaryData.raw
  sensitive = true
}

output "annotations" {
  value = data.ceph.object.metadata.annotations
}
