cloud "prod" {
  release = "2025.1"

  defaults {
    patch "Deployment/*" {
      enabled = self.name == "page"

      object = {
        metadata = { annotations = { "example.org/from" = "cloud", "example.org/cloud" = "yes" } }
      }
    }
  }
}

variable "extended" {
  default = false
}

definition "page" {
  port "http" {
    number = 8080
  }

  port "metrics" {
    number = 9100
  }

  config "page.conf" {
    path   = "/etc/page.conf"
    values = { DEFAULT = { port = port.http } }
  }

  job "fill" {
    image   = "registry.example.org/page:1"
    command = ["fill"]
  }

  workload "web" {
    kind     = "Deployment"
    image    = "registry.example.org/page:1"
    user     = 42999
    replicas = 2
    ports    = ["http", "metrics"]
    config   = ["page.conf"]
  }

  patch "Deployment/*-web" {
    object = {
      metadata = { annotations = { "example.org/from" = "definition" } }
      spec     = { minReadySeconds = 5 }
    }
  }

  patch "Deployment/page-*" {
    object = { metadata = { labels = { tier = "definition" } } }
  }
}

service "page" {
  patch "Deployment/*-web" {
    object = {
      metadata = { annotations = { "example.org/from" = "service" } }
      spec = { template = { spec = {
        dnsPolicy   = "ClusterFirst"
        tolerations = [{ key = "example.org/edge", operator = "Exists" }]
        containers = [
          { name = "web", workingDir = "/srv", ports = [{ containerPort = 8080, hostIP = "192.0.2.1" }] },
          { name = "helper", image = "registry.example.org/helper:1" },
        ]
        topologySpreadConstraints = null
      } } }
    }
  }

  patch "Deployment/page-*" {
    enabled = false
  }

  patch "Job/page-fill" {
    object = { spec = { ttlSecondsAfterFinished = var.extended ? 600 : 60 } }
  }

  patch "ConfigMap/page.conf" {
    object = { metadata = { labels = { audience = "people" } } }
  }

  patch "PodDisruptionBudget/page-web" {
    object = { spec = { maxUnavailable = "50%" } }
  }
}
