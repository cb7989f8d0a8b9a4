service "mariadb" {
  role = role.control

  config "my.cnf" {
    values = {
      mysqld = { innodb_buffer_pool_size = "512M" }
    }
  }

  workload "server" {
    resources {
      requests = { memory = "1Gi" }
      limits   = { memory = "2Gi" }
    }
  }
}

service "rabbitmq" {
  role = role.control
}

service "memcached" {
  role     = role.control
  replicas = 3
}

service "keystone" {
  role     = role.control
  replicas = 3
  expose   = exposure.public

  config "keystone.conf" {
    values = {
      token = { expiration = var.token_lifetime }
    }
  }
}

# Anything that Kubernetes knows can come along as it is.
manifest "limits" {
  files = ["manifests/*.yaml"]
}
