# What services have on others: queues, users and endpoints.
cloud "provided" {
  release = "2026.1"
}

definition "identity" {
  port "api" {
    number = 5000
  }

  secret "admin" {}

  # A Keystone cannot have users on itself.
  user "self" {}

  endpoint "identity" {
    port = "api"
  }

  provides "user" {
    name = "taken already"
    auth = { username = user.name, password = user.pasword }
  }

  provides "registration" {
    job "users" {
      image     = "identity"
      command   = ["register", jsonencode(registration.users), jsonencode(registration.roles)]
      passwords = "/run/secrets/passwords"

      mount "admin" {
        path = "/run/secrets/admin"
      }
    }
  }
}

definition "bus" {
  port "amqp" {
    number = 5672
  }

  secret "admin" {}

  provides "queue" {
    url = "rabbit://${queue.user}:${queue.password}@${self.host}/${queue.name}"

    job "create" {
      image = "bus"

      mount "admin" {
        path = "/run/secrets/admin"
      }
    }
  }
}

service "keystone" {
  definition = "identity"
}

service "rabbitmq" {
  definition = "bus"
}

service "memcached" {}

# Another Keystone, which is external, and nobody said its password; and a queue.
service "elsewhere" {
  definition = "identity"
  external   = { host = "keystone.example.org" }
}

service "bus-elsewhere" {
  definition = "bus"
  external   = { host = "rabbit.example.org" }
}

definition "stack" {
  port "api" {
    number = 8004
  }

  secret "user-of-mine" {}

  queue "stack" {}

  user "stack" {
    roles = ["two words"]
  }

  endpoint "orchestration" {
    port = "api"
    path = "v1"
  }

  config "stack.conf" {
    path = "/etc/stack.conf"
    values = {
      DEFAULT = { a = queue.stak.url, b = queue.stack.ur, c = user.stack.auht, d = endpoint.orchestration.publicurl }
    }
  }
}

# One queue, user and type for two services.
service "one" {
  definition = "stack"
}

service "two" {
  definition = "stack"
}

definition "lost" {
  port "api" {
    number = 8005
  }

  queue "lost" {
    server = "memcached"
  }

  queue "own" {
    server = "lost"
  }

  user "lost" {}

  endpoint "lost" {
    server = "elsewhere"
    port   = "api"
  }
}

service "lost" {}

definition "outside" {
  port "api" {
    number = 8006
  }

  queue "outside" {
    server = "bus-elsewhere"
  }

  user "outside" {
    server = "elsewhere"
  }

  identity_role "outsider" {
    server = "elsewhere"
  }

  endpoint "outside" {
    server = "elsewhere"
    port   = "api"
  }

  users "outside" {}
}

service "outside" {}
