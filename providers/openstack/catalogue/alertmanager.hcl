# Alertmanager: sends the alerts of service.prometheus to people. A restart loses silences.
definition "alertmanager" {
  description = "Sends alerts to people"

  input "settings" {
    type        = any
    default     = { route = { receiver = "nobody" }, receivers = [{ name = "nobody" }] }
    nullable    = false
    description = "Content of alertmanager.yml, with route and receivers. By default no alert goes anywhere."
  }

  check "receivers" {
    assert {
      condition     = try(input.settings.route.receiver, null) != "nobody"
      error_message = "Alerts go to nobody: settings says who gets them."
    }
  }

  port "http" {
    number = 9093
  }

  config "alertmanager.yml" {
    format  = "raw"
    path    = "/etc/prometheus/alertmanager.yml"
    content = yamlencode(input.settings)
  }

  workload "server" {
    kind         = "Deployment"
    logs         = "console"
    max_replicas = 1
    image        = "prometheus-alertmanager"
    user         = 42472
    command = [
      "/opt/prometheus_alertmanager/alertmanager",
      "--config.file=/etc/prometheus/alertmanager.yml",
      "--storage.path=/data",
      "--cluster.listen-address=",
      "--web.listen-address=:${port.http}",
    ]
    ports    = ["http"]
    config   = ["alertmanager.yml"]
    writable = ["/data"]

    resources {
      requests = { cpu = "10m", memory = "64Mi" }
      limits   = { memory = "256Mi" }
    }

    ready {
      http = "/-/ready"
    }
  }
}
