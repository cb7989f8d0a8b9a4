# RabbitMQ, one node. Users come from a definitions file that is read at every
# start: another password is another file, and a restart.
definition "rabbitmq" {
  description = "Message queue of the other services"

  port "amqp" {
    number = 5672
  }

  port "metrics" {
    number = 15692
  }

  secret "password" {}
  secret "cookie" {
    kind   = "hex"
    length = 32
  }

  config "rabbitmq.conf" {
    format = "properties"
    path   = "/etc/rabbitmq/rabbitmq.conf"
    values = {
      "listeners.tcp.default"             = port.amqp
      "prometheus.tcp.port"               = port.metrics
      "log.console"                       = true
      "log.console.use_colors"            = "off"
      "log.file"                          = false
      "load_definitions"                  = "/etc/rabbitmq/definitions.json"
      "cluster_partition_handling"        = "pause_minority"
      "vm_memory_high_watermark.absolute" = "640MB"
      # Prometheus has a way of its own to the numbers; the old collector is deprecated.
      "management_agent.disable_metrics_collector" = true
    }
  }

  config "enabled_plugins" {
    format  = "raw"
    path    = "/etc/rabbitmq/enabled_plugins"
    content = "[rabbitmq_prometheus].\n"
  }

  config "definitions.json" {
    format = "raw"
    path   = "/etc/rabbitmq/definitions.json"
    content = jsonencode({
      vhosts = [{ name = "/" }]
      users = [{
        name     = "openstack"
        password = secret.password.value
        tags     = []
      }]
      permissions = [{
        user      = "openstack"
        vhost     = "/"
        configure = ".*"
        write     = ".*"
        read      = ".*"
      }]
    })
  }

  workload "server" {
    kind         = "StatefulSet"
    image        = "rabbitmq"
    max_replicas = 1
    user         = 42439
    command      = ["rabbitmq-server"]
    ports        = ["amqp", "metrics"]
    config       = ["rabbitmq.conf", "enabled_plugins", "definitions.json"]
    writable     = ["/var/log/rabbitmq"]
    grace_period = 120
    env = {
      HOME                   = "/var/lib/rabbitmq"
      RABBITMQ_ERLANG_SECRET = secret.cookie.value
    }

    init "cookie" {
      command = ["sh", "-ec", <<-SH
        umask 077
        rm -f /var/lib/rabbitmq/.erlang.cookie
        printf %s "$RABBITMQ_ERLANG_SECRET" > /var/lib/rabbitmq/.erlang.cookie
        chmod 0400 /var/lib/rabbitmq/.erlang.cookie
      SH
      ]
    }

    claim "data" {
      path = "/var/lib/rabbitmq"
      size = "5Gi"
    }

    resources {
      requests = { cpu = "250m", memory = "512Mi" }
      limits   = { memory = "1Gi" }
    }

    startup {
      tcp     = "amqp"
      period  = 2
      retries = 90
    }

    ready {
      tcp = "amqp"
    }

    live {
      tcp     = "amqp"
      period  = 30
      retries = 4
    }
  }

  output "transport_url" {
    value = "rabbit://openstack:${secret.password.value}@${self.host}:${port.amqp}//"
  }
}
