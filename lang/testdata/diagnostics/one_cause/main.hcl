# One mistake is one error, also where many blocks meet it.
cloud "c" {
  release = "2026.1"
}

definition "server" {
  port "api" {
    number = 5000
  }

  secret "admin" {}

  workload "server" {
    kind  = "Deployment"
    image = "server"
    ports = ["api"]
  }

  provides "user" {}

  provides "registration" {
    job "users" {
      image = "server"

      mount "admin" {
        path = "/run/secrets/admin"
      }
    }
  }

  provides "queue" {
    job "create" {
      image = "server"

      mount "admin" {
        path = "/run/secrets/admin"
      }
    }
  }

  provides "database" {
    url = "mysql://${self.host}"
  }

  output "admin_password" {
    value = secret.admin.value
  }
}

service "mariadb" {
  definition = "server"
}

service "rabbitmq" {
  definition = "server"
}

service "keystone" {
  definition = "server"
}

definition "stack" {
  port "api" {
    number = 8004
  }

  database "stack" {}
  queue "stack" {}
  user "stack" {}

  user "stack_domain_admin" {
    domain = "stacks"
  }

  endpoint "orchestration" {
    port = "api"
  }

  workload "api" {
    kind  = "Deployment"
    image = "stack"
    ports = ["api"]
  }
}

# A second service of one definition.
service "stack" {}

service "second" {
  definition = "stack"
}

# Nobody said the password of an external one.
service "far" {
  definition = "server"
  external   = { host = "far.example.org" }
}

definition "apart" {
  queue "apart" {
    server = "far"
  }

  user "apart" {
    server = "far"
  }
}

service "apart" {}

# Config files that are made from each other.
definition "circle" {
  config "one.conf" {
    path = "/one"
    from = "two.conf"
  }

  config "two.conf" {
    path = "/two"
    from = "three.conf"
  }

  config "three.conf" {
    path = "/three"
    from = "one.conf"
  }

  config "four.conf" {
    path = "/four"
    from = "two.conf"
  }
}

service "circle" {}

# What is there already, without a word of where.
definition "storage" {
  port "monitor" {
    number = 6789
  }

  output "keys" {
    value = { a = "b" }
  }
}

service "storage" {}

definition "reader" {
  config "reader.conf" {
    path   = "/reader"
    values = { DEFAULT = { key = service.storage.keys["c"] } }
  }
}

service "reader" {}

# A key that another service does not have.
definition "keys" {
  output "keys" {
    value = { a = "b" }
  }
}

service "keys" {}

definition "lock" {
  input "key" {
    type    = string
    default = "c"
  }

  config "lock.conf" {
    path   = "/lock"
    values = { DEFAULT = { key = service.keys.keys[input.key] } }
  }
}

service "lock" {}

# A database holds data.
definition "store" {
  provides "database" {
    job "cleanup" {
      when  = "gone"
      image = "store"
    }
  }
}

service "store" {}
