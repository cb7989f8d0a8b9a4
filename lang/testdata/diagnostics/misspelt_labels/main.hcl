# New blocks of a service that are probably meant to override one of its definition.
cloud "c" {
  release = "2026.1"
}

definition "stack" {
  port "api" {
    number = 8004
  }

  queue "stack" {}
  user "stack" {}
  identity_role "owner" {}

  endpoint "volumev3" {
    port = "api"
  }

  endpoint "orchestration" {
    port = "api"
  }

  config "stack.conf" {
    path   = "/etc/stack.conf"
    values = { DEFAULT = { bus = queue.stack.url, user = user.stack.name } }
  }

  workload "api" {
    kind   = "Deployment"
    image  = "stack"
    ports  = ["api"]
    config = ["stack.conf"]
  }
}

definition "server" {
  port "api" {
    number = 5000
  }

  provides "user" {}
  provides "registration" {}
  provides "queue" {
    url = "rabbit://${self.host}"
  }
}

service "rabbitmq" {
  definition = "server"
}

service "keystone" {
  definition = "server"
}

# Nothing uses any of these.
service "stack" {
  port "apis" {
    number = 8005
  }

  queue "stak" {
    name = "stack-bus"
  }

  user "stackk" {
    roles = ["admin"]
  }

  identity_role "ownr" {
    enabled = false
  }

  endpoint "orchestratoin" {
    port = "api"
    path = "/v1"
  }

  endpoint "volumev2" {
    port = "api"
  }

  config "stak.conf" {
    path   = "/etc/stack2.conf"
    values = { DEFAULT = { debug = true } }
  }
}

# All of these are used, or nothing has a name like theirs.
service "used" {
  definition = "stack"

  port "api2" {
    number = 8006
  }

  port "metrics" {
    number = 9100
  }

  queue "stack" {
    name = "used"
  }

  queue "stack2" {}

  user "stack" {
    name = "used"
  }

  user "stack2" {}
  identity_role "owner2" {}

  endpoint "volumev3" {
    enabled = false
  }

  endpoint "orchestration" {
    enabled = false
  }

  config "stack2.conf" {
    path   = "/etc/stack2.conf"
    values = { DEFAULT = { bus = queue.stack2.url, user = user.stack2.name } }
  }

  workload "api" {
    ports  = ["api2"]
    config = ["stack2.conf"]
  }
}
