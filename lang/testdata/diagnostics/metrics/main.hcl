# Metrics of a cloud that nobody may read, and of ports that are none.
cloud "prod" {
  release = "2025.1"

  metrics {
    mode = "monitors"
  }
}

definition "status" {
  port "http" {
    number = 8080
  }

  port "other" {
    number = 8081
  }

  port "log" {
    number   = 514
    protocol = "udp"
  }

  workload "no-port" {
    kind  = "Deployment"
    image = "status"
    ports = ["http"]

    metrics {
      port = "htp"
    }
  }

  workload "another-port" {
    kind  = "Deployment"
    image = "status"

    metrics {
      port = "other"
    }
  }

  workload "udp" {
    kind  = "Deployment"
    image = "status"
    ports = ["log"]

    metrics {
      port = "log"
    }
  }
}

service "status" {}
