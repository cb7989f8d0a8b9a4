# RabbitMQ, one node. It has a long name, unless its data were made under a short one. The
# user openstack, and the administrator as whom jobs make a virtual host and a user for each
# `queue` block of another service, come from a definitions file that is read at every
# start: another password is another file, and a restart.
definition "rabbitmq" {
  description = "Message queue of the other services"

  input "rename_nodes" {
    type        = bool
    default     = false
    description = "Whether a node with a short name, as all had once, goes on under its long name: with its definitions, without the messages in its queues."
  }

  port "amqp" {
    number = 5672
  }

  port "metrics" {
    number = 15692
  }

  port "management" {
    number = 15672
  }

  secret "password" {}
  secret "admin" {}
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
      "management.tcp.port"               = port.management
      "log.console"                       = true
      "log.console.use_colors"            = "off"
      "log.file"                          = false
      "load_definitions"                  = "/etc/rabbitmq/definitions.json"
      "cluster_partition_handling"        = "pause_minority"
      "vm_memory_high_watermark.absolute" = "1300MB"
      "disk_free_limit.absolute"          = "1GB"
      # Quorum queues need memory for three times this size; the default is 512 MB.
      "raft.wal_max_size_bytes" = 64000000
      # Prometheus has a way of its own to the numbers; the old collector is deprecated.
      "management_agent.disable_metrics_collector" = true
    }
  }

  config "enabled_plugins" {
    format  = "raw"
    path    = "/etc/rabbitmq/enabled_plugins"
    content = "[rabbitmq_management,rabbitmq_prometheus].\n"
  }

  config "definitions.json" {
    format = "raw"
    path   = "/etc/rabbitmq/definitions.json"
    content = jsonencode({
      vhosts = [{ name = "/" }]
      users = [
        {
          name     = "openstack"
          password = secret.password.value
          tags     = []
        },
        {
          name     = "admin"
          password = secret.admin.value
          tags     = ["administrator"]
        },
      ]
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
    command      = ["sh", "-c", local.many_files, "sh", "rabbitmq-server"]
    ports        = ["amqp", "metrics", "management"]
    config       = ["rabbitmq.conf", "enabled_plugins", "definitions.json"]
    writable     = ["/var/log/rabbitmq"]
    grace_period = 120
    env = {
      HOME                   = "/var/lib/rabbitmq"
      RABBITMQ_CONF_ENV_FILE = "/var/lib/rabbitmq/rabbitmq-env.conf" # written by the step "name"
      NODE_DOMAIN            = "${self.name}-server.${self.namespace}"
      RENAME                 = input.rename_nodes
      # Two schedulers, which do not compute while they wait.
      RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS = "+S 2:2 +sbwt none +sbwtdcpu none +sbwtdio none"
    }

    init "cookie" {
      command = ["sh", "-ec", <<-SH
        umask 077
        rm -f /var/lib/rabbitmq/.erlang.cookie
        cat /run/secrets/cookie/value > /var/lib/rabbitmq/.erlang.cookie
        chmod 0400 /var/lib/rabbitmq/.erlang.cookie
      SH
      ]

      mount "cookie" {
        path = "/run/secrets/cookie"
      }
    }

    init "name" {
      command = ["sh", "-ec", file("${path.module}/rabbitmq/name.sh")]
    }

    claim "data" {
      path = "/var/lib/rabbitmq"
      size = "20Gi"
    }

    resources {
      requests = { cpu = "250m", memory = "512Mi" }
      limits   = { memory = "2Gi" }
    }

    startup {
      period  = 2
      retries = 90
    }

    ready {
      tcp = "amqp"
    }
  }

  # What a `queue` block of another service becomes.
  provides "queue" {
    url = "rabbit://${queue.user}:${queue.password}@${self.host}:${port.amqp}/${queue.name}"

    # Section [oslo_messaging_rabbit]. Processes of uWSGI need heartbeat_in_pthread = true
    # beside it, and all others must not have it. After a power cut the broker keeps the
    # connections of the dead node's processes, and gives them messages, until two heartbeats
    # are missing. RabbitMQ recommends 5 to 20 seconds; oslo.messaging's default is 60.
    # Queues for replies are named after the pod, and not by chance: RabbitMQ keeps each name that it
    # has ever seen in a table of limited size. The processes of a pod count them with a lock.
    settings = {
      heartbeat_timeout_threshold   = 20
      rabbit_quorum_queue           = true
      rabbit_transient_quorum_queue = true
      rabbit_stream_fanout          = true
      rabbit_qos_prefetch_count     = 50
      use_queue_manager             = true
    }

    job "create" {
      image     = "rabbitmq"
      user      = 42439
      command   = ["python3", "-c", file("${path.module}/rabbitmq/queue.py")]
      passwords = "/run/secrets/passwords"
      env = {
        MANAGEMENT_URL      = "http://${self.host}:${port.management}"
        ADMIN_PASSWORD_FILE = "/run/secrets/admin/value"
        QUEUE               = queue.name
        OWNER               = queue.owner
        PASSWORD_FILE       = "/run/secrets/passwords/${queue.password_file}"
      }

      mount "admin" {
        path = "/run/secrets/admin"
      }
    }

    # Virtual hosts and users of services that are gone, with the messages in them.
    job "cleanup" {
      when    = "gone"
      image   = "rabbitmq"
      user    = 42439
      command = ["python3", "-c", file("${path.module}/rabbitmq/queue.py")]
      env = {
        MANAGEMENT_URL      = "http://${self.host}:${port.management}"
        ADMIN_PASSWORD_FILE = "/run/secrets/admin/value"
        OWNER               = cloud.name
        THERE               = jsonencode(queue)
      }

      mount "admin" {
        path = "/run/secrets/admin"
      }
    }
  }

  output "transport_url" {
    value = "rabbit://openstack:${secret.password.value}@${self.host}:${port.amqp}//"
  }
}
