# RabbitMQ, one node or a cluster of three or five. Each node has a long name, unless its data were
# made under a short one. The user openstack, and the administrator as whom jobs make a virtual host
# and a user for each `queue` block of another service, come from a definitions file that is read at
# every start: another password is another file, and a restart.
definition "rabbitmq" {
  description = "Message queue of the other services"
  stage       = "data"

  input "rename_nodes" {
    type        = bool
    default     = false
    description = "Whether a node with a short name, as all had once, goes on under its long name: with its definitions, without the messages in its queues."
  }

  input "memory" {
    type        = string
    default     = "4Gi"
    nullable    = false
    description = "Memory limit of each node. Publishers wait while a node uses more than 60% of it."

    validation {
      condition     = can(regex("^[1-9][0-9]*(Mi|Gi)$", input.memory))
      error_message = "It is a whole number with a unit, Mi or Gi: 8Gi."
    }
  }

  input "disk_free_limit" {
    type        = string
    default     = "1GB"
    nullable    = false
    description = "Free space on the volume below which publishers have to wait, such as 5GB."

    validation {
      condition     = can(regex("^[1-9][0-9]*(MB|GB|MiB|GiB)$", input.disk_free_limit))
      error_message = "It is a number with a unit: MB, GB, MiB or GiB."
    }
  }

  locals {
    clustered = self.replicas > 1
    # Clients turn to the next member themselves, when theirs is away. With one address for all,
    # a third of their attempts would go to a node without power until Kubernetes misses it.
    hosts = local.clustered ? self.members.server : [self.host]
    leave = {
      namespace = self.namespace
      service   = self.name
    }
    member  = ["sh", "-ec", file("${path.module}/rabbitmq/member.sh"), "member", file("${path.module}/rabbitmq/join.py")]
    command = local.clustered ? local.member : ["sh", "-c", local.many_files, "sh", "rabbitmq-server"]

    cluster_settings = {
      # Members without data get the names of the nodes from join.py.
      "cluster_formation.peer_discovery_backend"   = "classic_config"
      "cluster_formation.discovery_retry_limit"    = 60
      "cluster_formation.discovery_retry_interval" = 2000
      # Queues get copies on members that are new.
      "quorum_queue.continuous_membership_reconciliation.enabled"           = true
      "quorum_queue.continuous_membership_reconciliation.target_group_size" = self.replicas
      "quorum_queue.continuous_membership_reconciliation.interval"          = 30000
    }

    cluster_env = {
      MEMBERS               = join(" ", self.members.server)
      AMQP_PORT             = port.amqp
      ASK_PORT              = 4370                       # beside 4369 and 25672, which also only members use
      RABBITMQ_CONFIG_FILES = "/var/lib/rabbitmq/conf.d" # written by join.py
      PATIENCE              = 60                         # seconds for which a member that stops waits for the others
    }
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
    values = merge({
      "listeners.tcp.default"             = port.amqp
      "prometheus.tcp.port"               = port.metrics
      "management.tcp.port"               = port.management
      "log.console"                       = true
      "log.console.use_colors"            = "off"
      "log.file"                          = cloud.logging == "sidecar" ? "/var/log/kolla/server.out.log" : false
      "log.file.rotation.size"            = cloud.logging == "sidecar" ? 10485760 : null
      "log.file.rotation.count"           = cloud.logging == "sidecar" ? 1 : null
      "load_definitions"                  = "/etc/rabbitmq/definitions.json"
      "cluster_partition_handling"        = cloud.release < 2026.2 ? "pause_minority" : null # 4.3 decides itself
      "disk_free_limit.absolute"          = input.disk_free_limit
      "vm_memory_high_watermark.relative" = 0.6
      # It would find the memory of the machine.
      "total_memory_available_override_value" = "${input.memory}B"
      # Quorum queues need memory for three times this size; the default is 512 MB.
      "raft.wal_max_size_bytes" = 64000000
      # Prometheus has a way of its own to the numbers; the old collector is deprecated.
      "management_agent.disable_metrics_collector" = true
    }, { for key, value in local.cluster_settings : key => value if local.clustered })
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

  # For an operator who removes members.
  config "leave.sh" {
    enabled = local.clustered
    format  = "raw"
    path    = "/etc/rabbitmq/leave.sh"
    content = file("${path.module}/rabbitmq/leave.sh")
  }

  workload "server" {
    # A node of a later version may change its data for good, and then not find its way into the cluster.
    data_version {
      program = "RabbitMQ"
      version = image.release >= 2026.2 ? "4.3" : image.release >= 2026.1 ? "4.2" : image.release >= 2025.2 ? "4.1" : "4.0"
      from    = image.release >= 2026.2 ? ["4.2"] : image.release >= 2026.1 ? ["4.0", "4.1"] : ["4.0"]
    }

    kind         = "StatefulSet"
    logs         = "files"
    image        = "rabbitmq"
    max_replicas = 5
    spread       = local.clustered ? "required" : "preferred" # a node that is lost takes one member
    scale_down   = templatefile("${path.module}/rabbitmq/leave.txt.tmpl", local.leave)
    user         = 42439
    command      = local.command
    ports        = ["amqp", "metrics", "management"]
    config       = ["rabbitmq.conf", "enabled_plugins", "definitions.json", "leave.sh"]
    writable     = ["/var/log/rabbitmq"]
    grace_period = local.clustered ? 300 : 120
    env = merge({
      HOME                   = "/var/lib/rabbitmq"
      RABBITMQ_CONF_ENV_FILE = "/var/lib/rabbitmq/rabbitmq-env.conf" # written by the step "name"
      NODE_DOMAIN            = "${self.name}-server.${self.namespace}"
      RENAME                 = input.rename_nodes
      # Two schedulers, which do not compute while they wait.
      RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS = "+S 2:2 +sbwt none +sbwtdcpu none +sbwtdio none"
    }, { for key, value in local.cluster_env : key => value if local.clustered })

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

    metrics {
      port = "metrics"
    }

    claim "data" {
      path = "/var/lib/rabbitmq"
      size = "20Gi"
    }

    resources {
      requests = { cpu = "250m", memory = "512Mi" }
      limits   = { memory = input.memory }
    }

    # A member waits for others: after a power cut, or to join them.
    startup {
      period  = 2
      retries = local.clustered ? 450 : 90
    }

    ready {
      tcp = "amqp"
    }

    backup {
      what     = "virtual hosts, users and policies"
      save     = ["rabbitmqctl", "--silent", "export_definitions", "-"]
      stage    = ["sh", "-ec", file("${path.module}/stage.sh"), "stage"]
      restore  = ["python3", "-c", file("${path.module}/rabbitmq/restore.py")]
      mismatch = chomp(file("${path.module}/rabbitmq/mismatch.txt"))
    }

    lifecycle {
      precondition {
        condition = contains([0, 1, 3, 5], self.replicas)
        error_message = join(" ", [
          "A cluster of RabbitMQ goes on while more than half of its members run. With an even number of them,",
          "\"${self.name}\" outlives the loss of no more members than with one fewer. Run one, three or five.",
        ])
      }
    }
  }

  # Jobs that ask the management API for feature flags start from this one.
  job "flags" {
    enabled = false
    image   = "rabbitmq"
    user    = 42439
    command = ["python3", "-c", file("${path.module}/rabbitmq/flags.py")]
    env = {
      MANAGEMENT_URL      = "http://${self.host}:${port.management}"
      ADMIN_PASSWORD_FILE = "/run/secrets/admin/value"
    }

    mount "admin" {
      path = "/run/secrets/admin"
    }
  }

  # What a new version can do, as soon as all members have it: the next version needs it.
  job "feature-flags" {
    from    = "flags"
    enabled = self.replicas > 0
    when    = "after"
    runs    = "release"
  }

  job "upgrade-check" {
    from             = "flags"
    enabled          = self.replicas > 0
    when             = "check"
    command          = ["python3", "-c", file("${path.module}/rabbitmq/flags.py"), "check"]
    env              = { HOME = "/tmp" } # of rabbitmqctl, which tells the version of the image
    fatal_exit_codes = [2]
  }

  # What a `queue` block of another service becomes.
  provides "queue" {
    url = "rabbit://${join(",", [for host in local.hosts : "${queue.user}:${queue.password}@${host}:${port.amqp}"])}/${queue.name}"

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

      makes_queue {
        addresses     = try([for member in self.members.server : "${member}:${port.management}"], []) # none elsewhere
        password      = secret.admin.value
        name          = queue.name
        owner         = queue.owner
        user_password = queue.password
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
    value = "rabbit://${join(",", [for host in local.hosts : "openstack:${secret.password.value}@${host}:${port.amqp}"])}//"
  }
}
