# Names that would lock out who has them already.
cloud "reserved" {
  release = "2026.1"
}

definition "bus" {
  port "amqp" {
    number = 5672
  }

  provides "queue" {
    url = "rabbit://${queue.user}:${queue.password}@${self.host}/${queue.name}"
  }
}

definition "identity" {
  port "api" {
    number = 5000
  }

  provides "user" {
    auth = { username = user.name, password = user.password }
  }

  provides "registration" {}
}

service "mariadb" {}

service "rabbitmq" {
  definition = "bus"
}

service "keystone" {
  definition = "identity"
}

definition "greedy" {
  database "mysql" {}

  database "mine" {
    user = "root"
  }

  queue "mine" {
    name = "openstack"
  }

  queue "odd" {
    name = "/"
  }

  user "admin" {}

  # In a domain of its own it is another one.
  user "own" {
    name   = "admin"
    domain = "mine"
  }
}

service "greedy" {}
