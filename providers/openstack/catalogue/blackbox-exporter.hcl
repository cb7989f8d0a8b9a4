# Asks URLs as a client outside does, for service.prometheus: those of the services, and its `probes`.
definition "blackbox-exporter" {
  description = "Asks URLs as a client outside does"

  input "ca" {
    type        = string
    default     = null
    description = "Certificates of the URLs' authorities (PEM). By default those of the image, and what an exposure's own CA signed is not verified."
  }

  port "http" {
    number = 9115
  }

  locals {
    http = { valid_status_codes = [200, 300, 401] }
    ca   = input.ca == null ? "" : "/etc/prometheus/ca.pem"
  }

  config "blackbox.yml" {
    format = "raw"
    path   = "/etc/prometheus/blackbox.yml"
    content = yamlencode({
      modules = {
        answers = {
          prober  = "http"
          timeout = "10s"
          http    = merge(local.http, { tls_config = { ca_file = local.ca } })
        }
        # For certificates of a CA of the cloud's own.
        private = {
          prober  = "http"
          timeout = "10s"
          http    = merge(local.http, { tls_config = { ca_file = local.ca, insecure_skip_verify = input.ca == null } })
        }
      }
    })
  }

  config "ca.pem" {
    enabled = input.ca != null
    format  = "raw"
    path    = "/etc/prometheus/ca.pem"
    content = input.ca
  }

  workload "server" {
    kind  = "Deployment"
    logs  = "console"
    image = "prometheus-blackbox-exporter"
    user  = 42472
    # The image gives the program a right that no container here has, and a program with such a right
    # does not start without it. It is for pings.
    command = [
      "sh", "-ec", "cp /opt/blackbox_exporter/blackbox_exporter /tmp/exporter; exec \"$@\"", "sh",
      "/tmp/exporter", "--config.file=/etc/prometheus/blackbox.yml", "--web.listen-address=:${port.http}",
    ]
    ports  = ["http"]
    config = ["blackbox.yml", "ca.pem"]

    resources {
      requests = { cpu = "10m", memory = "32Mi" }
      limits   = { memory = "128Mi" }
    }

    ready {
      http = "/-/healthy"
    }
  }
}
