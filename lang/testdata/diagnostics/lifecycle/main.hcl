cloud "prod" {
  release = "2025.1"
}

service "memcached" {
  lifecycle {
    prevent_destroy = "often"
    ignore_field    = ["spec.replicas"]
    ignore_fields   = ["spec..replicas", "metadata.annotations.example.org/team", "spec.template"]
    yield_to        = ["the autoscaler"]
    force_conflicts = { kubectl = true }
  }
  lifecycle {}
}

manifest "a" {
  object = {
    apiVersion = "v1"
    kind       = "ConfigMap"
    metadata   = { name = "a" }
  }
  lifecycle {
    ignore_fields   = "data"
    force_conflicts = ["helm", null]
  }
}
