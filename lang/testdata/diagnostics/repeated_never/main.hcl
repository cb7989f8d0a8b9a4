cloud "c" {
  release = "2025.1"
}

service "mariadb" {
  for_each = {}
}

service "memcached" {
  count = 0
}

service "keystone" {}
