cloud "test" {
  release = "2025.1"
  defaults {
    config "*.conf" {
      values = { DEFAULT = { workers = {} } }
    }
  }
}

service "mariadb" {}
service "memcached" {}

service "keystone" {
  config "keystone.conf" {
    values = {
      debug    = true
      cache    = { server = null }
      chache   = null
      database = { max = 1, max = 2 }
      token = {
        lines    = "one\ntwo"
        map      = { a = 1 }
        mixed    = [1, [2]]
        "a=b"    = 1
        dynamic  = local.map
        repeated = [["a", "b"], ["c"]]
      }
      "x]" = { a = 1 }
    }
  }
  workload "api" {
    env = { "A B" = 1, LIST = [1] }
  }
}

locals {
  map = { x = 1 }
}

service "agent" {
  config "agent.properties" {
    values = { section = { key = 1 } }
  }
}

role "compute" {
  nodes = ["a"]
}
