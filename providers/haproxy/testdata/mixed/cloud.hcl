# Several services and families, and ports that do not speak HTTP.
cloud "mixed" {
  release = "2025.1"
}

role "edge" {
  match = { zone = "edge" }
}

exposure "outside" {
  vip   = "2001:db8::10"
  nodes = role.edge
}

exposure "other" {
  vip = "192.0.2.10"
}

service "web" {
  expose = exposure.outside
}

definition "web" {
  port "ui" {
    number    = 443
    expose    = true
    node_port = 30443
  }

  port "api" {
    number    = 8080
    public    = 80
    expose    = true
    node_port = 30080
  }

  port "metrics" {
    number = 9090
  }

  workload "w" {
    kind  = "Deployment"
    image = "web"
    ports = ["ui", "api", "metrics"]
    ready {
      http = "/it's/ready?deep=\"yes\"#now"
      port = "api"

      headers = { Accept = "text/plain; q=1 %5b", Host = "web" }
    }
  }
}

service "tunnel" {
  expose = exposure.outside
}

definition "tunnel" {
  port "wire" {
    number    = 5100
    expose    = true
    node_port = 30100
  }

  workload "w" {
    kind  = "DaemonSet"
    image = "tunnel"
    ports = ["wire"]
    ready {
      tcp = "wire"
    }
  }
}

service "elsewhere" {
  definition = "tunnel"
  expose     = exposure.other

  port "wire" {
    node_port = 30101
  }

  # A node has one pod of the DaemonSet.
  workload "w" {
    kind = "Deployment"
  }
}

service "inside" {
  definition = "tunnel"

  workload "w" {
    kind = "Deployment"
  }
}
