# Grafana with three dashboards of service.prometheus. Everything comes from files: what somebody makes in it
# is lost with the pod, so that it works also while the database of the cloud does not.
definition "grafana" {
  description = "Dashboards"

  input "prometheus" {
    type        = string
    default     = null
    description = "URL of the Prometheus; by default that of service.prometheus."
  }

  port "http" {
    number = 3000
    expose = true
  }

  secret "admin" {}

  config "grafana.ini" {
    path = "/etc/grafana/grafana.ini"
    values = {
      paths = {
        data         = "/var/lib/grafana"
        logs         = "/tmp"
        plugins      = "/var/lib/grafana/plugins"
        provisioning = "/etc/grafana/kolla"
      }
      server = { http_port = port.http }
      analytics = {
        reporting_enabled        = false
        check_for_updates        = false
        check_for_plugin_updates = false
      }
      security = { admin_user = "admin", cookie_secure = startswith(self.public_url, "https://") }
      users    = { allow_sign_up = false }
      log      = { mode = "console" }
    }
  }

  config "datasource.yaml" {
    format = "raw"
    path   = "/etc/grafana/kolla/datasources/prometheus.yaml"
    content = yamlencode({
      apiVersion = 1
      datasources = [{
        name      = "Prometheus"
        uid       = "prometheus"
        type      = "prometheus"
        access    = "proxy"
        url       = input.prometheus != null ? input.prometheus : service.prometheus.url
        isDefault = true
      }]
    })
  }

  config "dashboards.yaml" {
    format = "raw"
    path   = "/etc/grafana/kolla/dashboards/kolla.yaml"
    content = yamlencode({
      apiVersion = 1
      providers = [{
        name    = "kolla"
        folder  = "kolla"
        type    = "file"
        options = { path = "/etc/grafana/boards" }
      }]
    })
  }

  config "cloud.json" {
    format  = "raw"
    path    = "/etc/grafana/boards/cloud.json"
    content = file("${path.module}/grafana/cloud.json")
  }

  config "service.json" {
    format  = "raw"
    path    = "/etc/grafana/boards/service.json"
    content = file("${path.module}/grafana/service.json")
  }

  config "hypervisor.json" {
    format  = "raw"
    path    = "/etc/grafana/boards/hypervisor.json"
    content = file("${path.module}/grafana/hypervisor.json")
  }

  workload "server" {
    kind         = "Deployment"
    logs         = "console"
    max_replicas = 1
    image        = "grafana"
    user         = 42417
    command      = ["/usr/share/grafana/bin/grafana", "server", "--homepath=/usr/share/grafana", "--config=/etc/grafana/grafana.ini"]
    ports        = ["http"]
    config       = ["grafana.ini", "datasource.yaml", "dashboards.yaml", "cloud.json", "service.json", "hypervisor.json"]
    writable     = ["/var/lib/grafana"]
    env          = { GF_SECURITY_ADMIN_PASSWORD = secret.admin.value }

    resources {
      requests = { cpu = "50m", memory = "128Mi" }
      limits   = { memory = "512Mi" }
    }

    startup {
      period  = 2
      retries = 90
    }

    ready {
      http = "/api/health"
    }
  }
}
