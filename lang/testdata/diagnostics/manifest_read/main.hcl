cloud "c" {
  release = "2025.1"
}

manifest "pool" {
  object = {
    apiVersion = "v1"
    kind       = "ConfigMap"
    metadata   = { name = "pool" }
  }
}

output "whole" {
  value = manifest.pool
}

output "name" {
  value = manifest.pool.object.metadata.name
}
