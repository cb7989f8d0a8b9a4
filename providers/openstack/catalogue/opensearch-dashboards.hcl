# OpenSearch Dashboards behind a password: HAProxy in its pod asks for it, and only HAProxy reaches it.
definition "opensearch-dashboards" {
  description = "Search of logs in a browser"

  input "username" {
    type        = string
    default     = "admin"
    nullable    = false
    description = "Name with which people log in, with the password in the secret `login`."
  }

  input "pattern" {
    type        = string
    default     = null
    description = "Pattern of the indices that the dashboard shows, by default those of the cloud, NAME-*. Several stand with commas."
  }

  port "web" {
    number    = 5601
    expose    = true
    node_port = 30561
  }

  secret "login" {}

  config "opensearch_dashboards.yml" {
    path = "/etc/opensearch-dashboards/opensearch_dashboards.yml"
    values = {
      "server.host"                        = "127.0.0.1"
      "server.port"                        = 5602
      "opensearch.hosts"                   = [service.opensearch.url]
      "opensearch.requestTimeout"          = 300000
      "opensearch.shardTimeout"            = 0
      "opensearchDashboards.defaultAppId"  = "discover"
      "data.search.usageTelemetry.enabled" = false
      "path.data"                          = "/tmp"
    }
  }

  config "haproxy.cfg" {
    format = "raw"
    path   = "/etc/haproxy/haproxy.cfg"
    content = templatefile("${path.module}/opensearch/haproxy.cfg.tmpl", {
      listen   = port.web
      server   = 5602
      username = input.username
      password = secret.login.value
    })
  }

  workload "web" {
    kind   = "Deployment"
    logs   = "console"
    image  = "opensearch-dashboards"
    user   = 42492
    start  = "kolla"
    reason = "Kolla's start takes the plug-in for logins to OpenSearch out of the image, as there are none."
    command = [
      "/usr/share/opensearch-dashboards/bin/opensearch-dashboards",
      "--config", "/etc/opensearch-dashboards/opensearch_dashboards.yml",
    ]
    config = ["opensearch_dashboards.yml"]
    env    = { OPENSEARCH_DASHBOARDS_SECURITY_PLUGIN = "False" }

    sidecar "proxy" {
      image   = "haproxy"
      user    = 42454
      command = ["haproxy", "-W", "-db", "-f", "/etc/haproxy/haproxy.cfg"]
      config  = ["haproxy.cfg"]
      ports   = ["web"]

      resources {
        requests = { cpu = "10m", memory = "32Mi" }
        limits   = { memory = "256Mi" }
      }

      ready {
        http = "/ready"
        port = "web"
      }
    }

    resources {
      requests = { cpu = "100m", memory = "512Mi" }
      limits   = { memory = "2Gi" }
    }
  }

  # An index pattern, a saved search and a dashboard of the cloud.
  job "dashboard" {
    when    = "after"
    image   = "opensearch-dashboards"
    user    = 42492
    command = ["python3", "-c", file("${path.module}/opensearch/dashboard.py")]
    env = {
      URL      = self.url
      USERNAME = input.username
      PATTERN  = input.pattern != null ? input.pattern : "${cloud.name}-*"
    }

    mount "login" { path = "/run/secrets/login" }
  }
}
