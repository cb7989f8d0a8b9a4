# A collector of logs that needs less memory than Fluentd, for the block logging of the cloud. Kolla has
# no image of it.
definition "rsyslog" {
  from        = "collector"
  description = "Collector of logs with rsyslog, for `logging` of the cloud"

  input "image" {
    type        = string
    default     = null
    description = "Image with rsyslogd and its module for Elasticsearch."

    validation {
      condition     = input.image != null
      error_message = "Kolla has no image of rsyslog in any release. Name one: image = \"registry.example.org/rsyslog:8\"."
    }
  }

  check "loki" {
    assert {
      condition     = alltrue([for t in input.targets : t.type != "loki"])
      error_message = "rsyslog cannot send to Loki, so nothing gets there: take collector = \"fluentd\"."
    }
  }

  locals {
    command = concat(local.start, ["rsyslogd", "-n", "-i", "NONE", "-f", "/etc/rsyslog/rsyslog.conf"])
    # What these need in a string of rsyslog's language.
    quoted = [for s in local.log_secrets : merge(s, { for part in ["before", "secret"] :
      part => replace(replace(s[part], "\\", "\\\\"), "\"", "\\\"")
    })]
  }

  config "kolla-logs.conf" {
    path   = "/etc/rsyslog/rsyslog.conf"
    format = "raw"
    content = templatefile("${path.module}/rsyslog/rsyslog.conf.tmpl", merge(local.template, {
      secrets = local.quoted
      starts  = local.log_starts
    }))
  }

  config "kolla-logs-workloads.json" {
    path   = "/etc/rsyslog/workloads.json"
    format = "raw"
    content = jsonencode({
      version = 1
      nomatch = ""
      type    = "string"
      table   = local.table
    })
  }

  workload "node" {
    config = ["kolla-logs.conf", "kolla-logs-workloads.json", "logs-ca.pem"]
  }

  # On a node JSON, because rsyslog cannot take away what the runtime writes before each line of a trace.
  output "environment" {
    value = cloud.logging == "node" ? { OS_DEFAULT__USE_JSON = "true" } : local.log_environment
  }
}
