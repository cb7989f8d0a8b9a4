cloud "test" {
  release = "2025.1"
}

service "mariadb" {}

service "keystone" {
  config "keystone.conf" {
    values = { cache = null }
  }
}
