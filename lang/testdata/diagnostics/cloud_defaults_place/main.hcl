cloud "test" {
  release = "2025.1"

  defaults {
    role     = role.contrl
    expose   = role.control
    replicas = 2
  }
}

role "control" {
  nodes = ["node-1"]
}

exposure "public" {
  vip = "192.0.2.10"
}

service "mariadb" {}

service "memcached" {}

service "keystone" {}

service "second" {
  definition = "keystone"
  expose     = exposure.public

  database "keystone" {
    name = "second"
  }
}
