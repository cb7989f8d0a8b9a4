cloud "test" {
  release = "2025.1"
}

service "mariadb" {}
service "memcached" {}

service "keystone" {
  config "keystone.conf" {
    values = {
      cache    = { servers = "10.0.0.1:11211,localhost:11211" }
      database = { connection = "mysql://x@127.0.0.1/x" }
      other    = { listen = "0.0.0.0" }
    }
  }
}

service "named" {
  definition = "keystone"
  config "keystone.conf" {
    values = {
      cache = { servers = "1.cache.example.org:11211" }
    }
  }
}

# Where the definition refers to nothing, the port tells.
service "unforeseen" {
  definition = "keystone"
  config "keystone.conf" {
    values = {
      database = { slave_connection = "mysql://10.0.0.3:3306/keystone" }
      other    = { listen = "10.0.0.3:5000", remote = "10.0.0.3:9999" }
    }
  }
  workload "api" {
    env = { CACHE = "127.0.0.1:11211" }
  }
}
