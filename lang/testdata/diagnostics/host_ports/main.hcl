cloud "test" {
  release = "2025.1"
}

role "all" {
  match = { "node" = "yes" }
}

role "some" {
  match = { "node" = "yes", "disk" = "ssd" }
}

role "three" {
  nodes = ["a", "b", "c"]
}

role "two" {
  nodes = ["c", "d"]
}

definition "agent" {
  port "metrics" {
    number = 9100
  }
  workload "agent" {
    kind         = "DaemonSet"
    image        = "agent"
    ports        = ["metrics"]
    host_network = true
  }
}

definition "server" {
  port "api" {
    number = 9200
  }
  workload "server" {
    kind         = "Deployment"
    image        = "server"
    ports        = ["api"]
    host_network = true
  }
}

definition "mixed" {
  port "metrics" {
    number = 9100
  }
  workload "first" {
    kind  = "DaemonSet"
    image = "mixed"
    ports = ["metrics"]
  }
  workload "second" {
    kind  = "Deployment"
    image = "mixed"
    ports = ["metrics"]
  }
}

service "all" {
  definition = "agent"
  role       = role.all
}

service "some" {
  definition = "agent"
  role       = role.some
}

service "three" {
  definition = "agent"
  role       = role.three
}

service "two" {
  definition = "agent"
  role       = role.two
}

service "server-a" {
  definition = "server"
  role       = role.three
  replicas   = 4
}

service "server-b" {
  definition = "server"
  role       = role.two
}

service "server-c" {
  definition = "server"
  role       = role.all
}

service "server-d" {
  definition = "server"
  role       = role.all
}

service "mixed" {
  role = role.three
  workload "first" {
    host_network = true
    role         = role.two
  }
  workload "second" {
    host_network = true
    replicas     = 3
  }
}

# Roles that are made of others.
role "nodes" {
  roles = [role.two, role.ssd]
}

role "ssd" {
  match = { "disk" = "ssd" }
}

role "listed" {
  roles = [role.two, role.three]
}

service "union" {
  definition = "agent"
  role       = role.nodes

  port "metrics" {
    number = 9500
  }
}

service "apart" {
  definition = "agent"
  role       = role.three

  port "metrics" {
    number = 9500
  }
}

service "fifth" {
  definition = "server"
  role       = role.listed
  replicas   = 5

  port "api" {
    number = 9501
  }
}
