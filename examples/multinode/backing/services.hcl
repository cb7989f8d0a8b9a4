# What the services of OpenStack keep their data in and talk through.

service "mariadb" {
  replicas = 3

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

# Who refers to a service may connect to it, and nobody else, but for those who are
# named.
service "rabbitmq" {
  replicas = 3

  allow "prometheus" {
    ports     = ["metrics"]
    namespace = "monitoring"
    pods      = { "app.kubernetes.io/name" = "prometheus" }
  }
}

service "memcached" {
  replicas = var.cache_replicas
}
