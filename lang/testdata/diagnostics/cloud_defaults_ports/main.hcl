cloud "test" {
  release = "2025.1"

  defaults {
    expose = exposure.public
  }
}

exposure "public" {
  vip = "192.0.2.10"
}

service "mariadb" {}

service "memcached" {}

service "keystone" {}

service "second" {
  definition = "keystone"

  database "keystone" {
    name = "second"
  }
}
