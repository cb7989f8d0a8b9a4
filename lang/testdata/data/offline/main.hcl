cloud "c" {
  release = "2025.1"
}

data "nodes" {
  kind   = "Node"
  labels = { zone = "a" }
}

data "registry" {
  kind = "ConfigMap"
  name = "registry"
}

role "zone" {
  nodes = [for node in data.nodes.objects : node.metadata.name]
}

service "memcached" {
  for_each = { for node in data.nodes.objects : node.metadata.name => true }
}

service "mariadb" {}

service "keystone" {
  config "keystone.conf" {
    values = {
      DEFAULT = { host = data.registry.object.data["host"] }
      cache   = { servers = [for key, cache in service.memcached : cache.address] }
    }
  }
}
