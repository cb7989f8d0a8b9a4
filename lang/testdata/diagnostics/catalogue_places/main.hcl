cloud "test" {
  release = "2025.1"
}

definition "memcached" {}

service "mariadb" {}

service "memcached" {}

service "keystone" {
  port "public" {
    enabled = false
  }

  secret "admin" {
    enabled = false
  }
}
