cloud "c" {
  release = "2025.1"
}

manifest "later" {
  object = {
    apiVersion = "v1"
    kind       = data.later.object.kind
    metadata   = { name = data.later.object.data["name"] }
  }
}

manifest "whole" {
  object = data.later.object
}

manifest "makes" {
  count = 1
  object = {
    apiVersion = "v1"
    kind       = "ConfigMap"
    metadata   = { name = "later" }
  }
}

data "later" {
  kind       = "ConfigMap"
  name       = "later"
  depends_on = [manifest.makes[0]]
}

data "typo" {
  kind = "ConfigMap"
  name = "registy"
}

data "both" {
  kind   = "ConfigMap"
  name   = "registry"
  labels = {}
}

data "neither" {
  kind = "ConfigMap"
}

data "hidden" {
  kind = "Lease"
  name = "x"
}

data "widget" {
  kind = "Widget"
  name = "x"
}

data "registry" {
  kind = "ConfigMap"
  name = "registry"

  lifecycle {
    postcondition {
      condition     = self.object.data["host"] == "other"
      error_message = "The host is ${self.object.data["host"]}."
    }
  }
}

data "ceph" {
  kind = "Secret"
  name = "ceph"
}

data "lists" {
  kind     = "ConfigMap"
  labels   = {}
  optional = true
}

locals {
  missing   = data.registry.object.data["hots"]
  attribute = data.registry.objct
  later     = data.later.object.data["x"]
  nothing   = data.registery.object
}

service "memcached" {
  count = data.later.object.data["count"]
}

service "mariadb" {
  replicas = local.later
  images   = { mariadb-server = local.later }
}

role "r" {
  for_each = toset([local.later])
  nodes    = [each.key]
}

service "keystone" {
  name = local.later

  lifecycle {
    ignore_fields = [local.later]
  }
}

service "agent" {
  enabled = local.later == "x"
}

output "leaks" {
  value = data.ceph.object.data["key"]
}

removed {
  from = "service.${data.later.object.data["name"]}"

  lifecycle {
    destroy = false
  }
}
