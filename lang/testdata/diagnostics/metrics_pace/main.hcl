# Intervals and timeouts that no Prometheus takes.
cloud "prod" {
  release = "2025.1"

  metrics {
    mode = "services"
  }
}

definition "status" {
  input "interval" {
    type    = number
    default = 30
  }

  port "http" {
    number = 8080
  }

  workload "longer" {
    kind  = "Deployment"
    image = "status"
    ports = ["http"]

    metrics {
      port     = "http"
      interval = 30
      timeout  = 45
    }
  }

  workload "alone" {
    kind  = "Deployment"
    image = "status"
    ports = ["http"]

    metrics {
      port    = "http"
      timeout = 45
    }
  }

  workload "evaluated" {
    kind  = "Deployment"
    image = "status"
    ports = ["http"]

    metrics {
      port     = "http"
      interval = input.interval
      timeout  = 45
    }
  }

  workload "text" {
    kind  = "Deployment"
    image = "status"
    ports = ["http"]

    metrics {
      port     = "http"
      interval = "1m"
    }
  }

  workload "none" {
    kind  = "Deployment"
    image = "status"
    ports = ["http"]

    metrics {
      port     = "http"
      interval = 0
    }
  }

  workload "half" {
    kind  = "Deployment"
    image = "status"
    ports = ["http"]

    metrics {
      port     = "http"
      interval = 7.5
    }
  }
}

service "status" {}
