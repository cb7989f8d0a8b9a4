cloud "test" {
  release    = "2025.1"
  config_dir = "overrides"
}

service "mariadb" {}
service "memcached" {}
service "keystone" {}
