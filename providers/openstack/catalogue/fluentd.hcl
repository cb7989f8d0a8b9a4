# The collector of logs in Kolla's images, for the block logging of the cloud.
definition "fluentd" {
  from        = "collector"
  description = "Collector of logs with Fluentd, for `logging` of the cloud"

  input "image" {
    type        = string
    default     = "fluentd"
    nullable    = false
    description = "Image with Fluentd and its plug-ins for OpenSearch and Elasticsearch."
  }

  locals {
    command = concat(local.start, ["fluentd", "--no-supervisor", "-c", "/etc/fluentd/fluentd.conf"])
  }

  config "kolla-logs.conf" {
    path   = "/etc/fluentd/fluentd.conf"
    format = "raw"
    content = templatefile("${path.module}/fluentd/fluentd.conf.tmpl", merge(local.template, {
      table   = local.table
      secrets = local.log_secrets
      starts  = local.log_starts
    }))
  }

  output "environment" {
    value = local.log_environment
  }
}
