cloud "c" {
  release = "2025.1"

  defaults {
    config "nova*.conf" {
      values = { DEFAULT = { debug = true } }
    }
  }
}

service "mariadb" {
  for_each = toset(["a", "b"])
}

service "memcached" {
  count = 2
}

# Neither the database server nor the cache is one that can be told.
service "keystone" {}

definition "queue" {
  description = "A queue"

  workload "server" {
    kind  = "Deployment"
    image = "queue"

    claim "data" {
      path = "/var/lib/queue"
      size = "1Gi"
    }
  }
}

service "queue" {}
