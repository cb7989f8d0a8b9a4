cloud "prod" {
  release = "2025.1"
  tag     = "42"

  images = {
    "*"      = "registry.example.org/mirror/*:1"
    "st*re"  = "registry.example.org/special/*:2"
    tool     = "registry.example.org/tool:3"
  }

  defaults {
    storage_class = self.name == "store" ? "fast" : "slow"
    labels        = { cost = "4711" }
    annotations   = { owner = "team ${self.name}" }

    workload {
      env           = { A = "cloud", B = "cloud", C = "cloud ${self.name}" }
      grace_period  = 77
      service_links = true

      resources {
        requests = { cpu = "3" }
        limits   = { memory = "3Gi" }
      }
    }
  }
}

definition "store" {
  job "fill" {
    image = "tool"
  }

  workload "server" {
    kind         = "StatefulSet"
    image        = "store"
    env          = { A = "definition", B = "definition", D = "definition" }
    grace_period = 11

    resources {
      requests = { cpu = "1", memory = "1Gi" }
    }

    claim "data" {
      path          = "/data"
      size          = "1Gi"
      storage_class = "definition"
    }

    claim "logs" {
      path = "/logs"
      size = "1Gi"
    }
  }

  workload "agent" {
    kind  = "Deployment"
    loss  = "nobody collects"
    image = "agent"
  }
}

service "store" {
  images = { agent = "registry.example.org/service:1" }

  workload "server" {
    env = { B = "service" }

    resources {
      limits = { memory = "5Gi" }
    }

    claim "logs" {
      storage_class = "service"
    }
  }
}
