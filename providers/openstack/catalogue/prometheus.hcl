# Prometheus, for a cluster that has none. It finds what it measures in DNS and asks no API of Kubernetes. Its
# samples are on a volume; without it, history is lost and nothing else. It has no log-in, so that nothing
# outside reaches it: `kubectl -n NAMESPACE port-forward svc/prometheus 9090`.
definition "prometheus" {
  description = "Metrics of the cloud, and alerts"

  input "retention" {
    type        = string
    default     = "15d"
    nullable    = false
    description = "How long samples are kept: a number with a unit, such as 30d."

    validation {
      condition     = can(regex("^[1-9][0-9]*[hdwy]$", input.retention))
      error_message = "It is a number with a unit, h, d, w or y: 30d."
    }
  }

  input "retention_size" {
    type        = string
    default     = "16GB"
    nullable    = false
    description = "How much disk samples may take, less than the claim \"data\" has: a number with a unit, such as 80GB. The oldest go first."

    validation {
      condition     = can(regex("^[1-9][0-9]*[MGT]B$", input.retention_size))
      error_message = "It is a number with a unit, MB, GB or TB: 80GB."
    }
  }

  input "interval" {
    type        = number
    default     = 30
    nullable    = false
    description = "Seconds between two samples, where the definition of what is measured says nothing else."
  }

  input "probes" {
    type        = map(string)
    default     = {}
    nullable    = false
    description = "URLs that service.blackbox-exporter asks, by name, besides those of the services: { shop = \"https://shop.example.org\" }. null: none."
  }

  input "targets" {
    type        = list(string)
    default     = []
    nullable    = false
    description = "More headless Services with a port \"metrics\", besides those of the services and of HAProxy."
  }

  input "optional" {
    type        = list(string)
    default     = []
    nullable    = false
    description = "Headless Services, of all that Prometheus finds in DNS, that may have no pods: no alert KollaTargetsGone about them."
  }

  input "ceph_managers" {
    type        = list(string)
    default     = []
    nullable    = false
    description = "Addresses of all managers of Ceph, HOST:PORT, where the module prometheus serves metrics, by default at port 9283."
  }

  input "scrape" {
    type        = any
    default     = []
    nullable    = false
    description = "More entries of scrape_configs, as Prometheus takes them."
  }

  input "rules" {
    type        = string
    default     = "groups: []"
    nullable    = false
    description = "More rules, as the text of a file of Prometheus."
  }

  input "runbooks" {
    type        = string
    default     = "docs/alerts.md"
    nullable    = false
    description = "URL of the page that says what to do about each alert, for the annotation runbook_url: docs/alerts.md of kolla, or your own."
  }

  input "cluster_domain" {
    type        = string
    default     = "cluster.local"
    nullable    = false
    description = "DNS domain of the Kubernetes cluster."
  }

  locals {
    domain       = "${self.namespace}.svc.${input.cluster_domain}"
    alertmanager = try(service.alertmanager.address, null)
    blackbox     = try(service.blackbox-exporter.address, null)

    targets = setunion(keys(cloud.targets), input.targets)

    found = [for target in local.targets : merge(
      {
        job_name       = trimsuffix(target, "-metrics")
        dns_sd_configs = [{ names = ["_metrics._tcp.${target}.${local.domain}"] }]
      },
      try(cloud.targets[target].path, null) == null ? {} : { metrics_path = cloud.targets[target].path },
      {
        for key, seconds in {
          scrape_interval = try(cloud.targets[target].interval, null)
          scrape_timeout  = try(cloud.targets[target].timeout, null)
        } : key => "${seconds}s" if seconds != null
      },
    )]

    # A target without pods is not in DNS, so that nothing about it is 0.
    gone = [for target in setsubtract(local.targets, input.optional) : {
      alert  = "KollaTargetsGone"
      expr   = "absent(up{job=\"${trimsuffix(target, "-metrics")}\"})"
      for    = "5m"
      labels = { severity = can(regex("mariadb|rabbitmq|valkey", target)) ? "critical" : "warning" }
      annotations = {
        summary     = "No pod of {{ $labels.job }} is there"
        description = "DNS has had no address of it for five minutes, so that other alerts about it are silent."
        runbook_url = "${input.runbooks}#kollatargetsgone"
      }
    }]

    # A name in `probes` stands for another URL than that of the service, or for none.
    asked = { for name, probe in merge(
      { for name, x in cloud.urls : name => { url = x.url, module = x.private_ca ? "private" : "answers" } },
      { for name, url in input.probes : name => url == null ? null : { url = url, module = "answers" } },
    ) : name => probe if probe != null }

    # Only the active manager has metrics. The others answer without any.
    ceph = length(input.ceph_managers) == 0 ? [] : [{
      job_name       = "ceph"
      honor_labels   = true
      static_configs = [{ targets = input.ceph_managers }]
    }]

    itself = {
      job_name       = "prometheus"
      static_configs = [{ targets = ["127.0.0.1:${port.http}"] }]
    }

    probes = local.blackbox == null || length(local.asked) == 0 ? [] : [{
      job_name     = "probes"
      metrics_path = "/probe"
      static_configs = [for name, probe in local.asked : {
        targets = [probe.url]
        labels  = { probe = name, __param_module = probe.module }
      }]
      relabel_configs = [
        {
          source_labels = ["__address__"]
          target_label  = "__param_target"
        },
        {
          source_labels = ["__address__"]
          target_label  = "instance"
        },
        {
          target_label = "__address__"
          replacement  = local.blackbox
        },
      ]
    }]
  }

  port "http" {
    number = 9090
  }

  config "prometheus.yml" {
    format = "raw"
    path   = "/etc/prometheus/prometheus.yml"
    content = yamlencode({
      global = {
        scrape_interval     = "${input.interval}s"
        evaluation_interval = "${input.interval}s"
        external_labels     = { cloud = cloud.name }
      }
      rule_files     = ["/etc/prometheus/alerts.yaml", "/etc/prometheus/gone.yaml", "/etc/prometheus/more.yaml"]
      alerting       = { alertmanagers = [for a in compact([local.alertmanager]) : { static_configs = [{ targets = [a] }] }] }
      scrape_configs = concat([local.itself], local.found, local.probes, local.ceph, input.scrape)
    })
  }

  config "alerts.yaml" {
    format  = "raw"
    path    = "/etc/prometheus/alerts.yaml"
    content = replace(file("${path.module}/prometheus/alerts.yaml"), "runbook_url: docs/alerts.md", "runbook_url: ${input.runbooks}")
  }

  config "gone.yaml" {
    format  = "raw"
    path    = "/etc/prometheus/gone.yaml"
    content = yamlencode({ groups = [{ name = "kolla-targets", rules = local.gone }] })
  }

  config "more.yaml" {
    format  = "raw"
    path    = "/etc/prometheus/more.yaml"
    content = input.rules
  }

  workload "server" {
    kind         = "StatefulSet"
    logs         = "console"
    max_replicas = 1
    image        = "prometheus-server"
    user         = 42472
    command = [
      "/opt/prometheus/prometheus",
      "--config.file=/etc/prometheus/prometheus.yml",
      "--storage.tsdb.path=/data",
      "--storage.tsdb.retention.time=${input.retention}",
      "--storage.tsdb.retention.size=${input.retention_size}",
      "--web.listen-address=:${port.http}",
    ]
    ports        = ["http"]
    config       = ["prometheus.yml", "alerts.yaml", "gone.yaml", "more.yaml"]
    grace_period = 120

    claim "data" {
      path = "/data"
      size = "20Gi"
    }

    resources {
      requests = { cpu = "100m", memory = "512Mi" }
      limits   = { memory = "2Gi" }
    }

    # It reads what it wrote last, after a power cut.
    startup {
      period  = 2
      retries = 300
    }

    ready {
      http = "/-/ready"
    }

    live {
      http    = "/-/healthy"
      period  = 30
      retries = 4
    }
  }

  check "metrics" {
    assert {
      condition     = cloud.metrics
      error_message = "Nothing in the cloud has metrics: write metrics { mode = \"services\" } into the cloud block."
    }

    assert {
      condition     = cloud.scraping != "monitors"
      error_message = "This Prometheus reads no PodMonitors: set mode = \"services\" in the block metrics of the cloud, or leave the service out."
    }

    assert {
      condition     = !contains(cloud.services, "blackbox-exporter") || length(local.asked) > 0
      error_message = "service.blackbox-exporter has nothing to ask, as nothing is exposed: name URLs in probes, or KollaEndpointDown never fires."
    }
  }
}
