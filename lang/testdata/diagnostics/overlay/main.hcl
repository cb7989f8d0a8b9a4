cloud "c" {
  release = "2025.1"
}

service "mariadb" {
  # More than it copes with, said of the workload itself.
  workload "server" {
    replicas = 3

    # New ones that are not complete, at any depth.
    claim "data" {
      size = "20Gi"
    }

    init "step" {}

    mount "rot" {
      path = "data"
    }
  }

  provides "database" {
    job "crate" {
      attempts = 2
    }
  }
}

service "memcached" {}

service "keystone" {
  # Nothing takes its type away.
  workload "api" {
    kind   = null
    config = ["keystone.cnf"]

    ready {
      exec = ["true"]
      tcp  = "public"
    }
  }

  job "bootstrp" {
    env = { A = "b" }
  }

  port "pubilc" {
    node_port = 30501
  }

  # The first is read, the others are not.
  secret "more" {}
  secret "fernt" {
    count = 5
  }
  secret "fernet" {
    from_env = "KEYS"
    count    = 4
  }
  secret "db-keystone" {}

  database "keystne" {
    server = "mariadb"
  }

  config "more.conf" {
    path   = "/etc/more.conf"
    values = { a = { b = secret.more.value } }
  }

  output "host" {
    value = 1
  }
}

# What does not count is null.
definition "gated" {
  port "http" {
    number = 80
  }
  port "other" {
    enabled = false
    number  = 81
  }
  secret "key" {
    enabled = false
  }
  job "j" {
    image = "x"
    env   = { A = secret.key.value, B = "${port.other}" }

    mount "key" {
      path = "/x"
    }
  }
}

service "gated" {}

definition "unclear" {
  port "http" {
    enabled = "maybe"
    number  = 80
  }
  workload "w" {
    enabled = self.replicas > 1
    kind    = "Deployment"
    image   = "x"
  }
}

service "unclear" {}
