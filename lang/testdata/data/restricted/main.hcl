cloud "c" {
  release = "2025.1"
}

manifest "makes" {
  object = {
    apiVersion = "v1"
    kind       = "ConfigMap"
    metadata   = { name = "later" }
  }
}

data "later" {
  kind       = "ConfigMap"
  name       = "later"
  depends_on = [manifest.makes]
}

service "memcached" {
  replicas = data.later.object.data["replicas"]
}

service "mariadb" {}
service "keystone" {}

role "r" {
  for_each = toset(keys(data.later.object.data))
  nodes    = ["node-1"]
}

secret "s" {
  length = data.later.object.data["length"]
}
