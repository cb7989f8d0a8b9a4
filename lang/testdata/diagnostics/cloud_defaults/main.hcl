cloud "test" {
  release = "2025.1"
  tag     = "a:b"

  images = {
    memcache    = "registry.example.org/memcached:1"
    "mariadb-*" = "registry.example.org/*:1"
  }

  defaults {
    storage_class = "Fast"
    labels        = { "app.kubernetes.io/name" = "x", "a b" = "c" }
    annotations   = { "kolla.openstack.org/address" = "x" }

    workload {
      grace_period = "long"
      kind         = "Deployment"

      resources {
        limits = { memory = "much" }
      }
    }
  }
}

service "mariadb" {}

service "memcached" {}
