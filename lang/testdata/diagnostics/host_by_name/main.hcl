cloud "test" {
  release    = "2025.1"
  config_dir = "config"
}

service "mariadb" {}
service "memcached" {}

service "keystone" {
  config "keystone.conf" {
    values = {
      cache    = { servers = "memcached.example.org:11211" }
      database = { connection = "mysql://keystone:x@mariadb.other:3306/keystone" }
    }
  }
}

service "bare" {
  definition = "keystone"
  config "keystone.conf" {
    values = {
      cache    = { servers = ["10.0.0.x:1", "memcached:11211"] }
      database = { connection = "mysql://keystone:x@mariadb/keystone" }
    }
  }
}

service "overridden" {
  definition = "keystone"
}
