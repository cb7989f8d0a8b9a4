# What the services of OpenStack keep their data in and talk through.

service "mariadb" {
  role = var.role

  config "my.cnf" {
    values = {
      mysqld = { innodb_buffer_pool_size = "${var.database_memory / 2}M" }
    }
  }

  workload "server" {
    resources {
      requests = { memory = "${var.database_memory}Mi" }
      limits   = { memory = "${2 * var.database_memory}Mi" }
    }
  }
}

service "rabbitmq" {
  role = var.role
}

service "memcached" {
  role     = var.role
  replicas = length(var.role.nodes)
}

# Only what runs in the cloud's own namespace reaches them.
manifest "only-inside" {
  for_each = toset(["mariadb", "rabbitmq", "memcached"])

  object = {
    apiVersion = "networking.k8s.io/v1"
    kind       = "NetworkPolicy"
    metadata   = { name = "${each.key}-only-inside" }
    spec = {
      podSelector = { matchLabels = { "app.kubernetes.io/name" = each.key } }
      policyTypes = ["Ingress"]
      ingress     = [{ from = [{ podSelector = {} }] }]
    }
  }
}
