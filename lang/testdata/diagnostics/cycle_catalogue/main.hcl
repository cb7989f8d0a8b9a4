cloud "test" {
  release = "2025.1"
}

service "mariadb" {}

service "memcached" {
  depends_on = [service.keystone]
}

service "keystone" {}
