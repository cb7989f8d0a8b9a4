# Barbican under uWSGI, and workers that carry out orders. What it keeps is in the database,
# encrypted by the project, with keys that one key encrypts: the secret "kek". Members of a project
# keep secrets in it, and have encrypted volumes. Readers see no secrets.
definition "barbican" {
  from        = "api-with-daemons"
  description = "Secrets of projects: keys, certificates and passphrases"

  # Barbican deletes what a project had when it hears from Keystone that the project is
  # gone. Keystone has to be told to send that, in its own service:
  #
  #   config "keystone.conf" {
  #     values = {
  #       oslo_messaging_notifications = {
  #         driver        = "messagingv2"
  #         topics        = "barbican_notifications"
  #         transport_url = service.rabbitmq.transport_url
  #       }
  #     }
  #   }
  input "keystone_listener" {
    type        = bool
    default     = false
    description = "Whether to delete the secrets of deleted projects, of which Keystone has to send notifications."
  }

  locals {
    uid = 42403
  }

  port "api" {
    number    = 9311
    node_port = 30311
  }

  # Nobody needs these roles. They count for an operator who sets enforce_new_defaults = false: then,
  # creators keep secrets and have encrypted volumes, and members without that role do not.
  identity_role "key-manager:service-admin" {}
  identity_role "creator" {}
  identity_role "observer" {}
  identity_role "audit" {}

  endpoint "key-manager" {
    port = "api"
  }

  # The first key encrypts the keys of projects. After a rotation, pods start with the new list, and
  # job "rewrap" encrypts the keys of all projects again.
  secret "kek" {
    kind  = "fernet"
    count = 3
    keep  = ["86400"]
    loss  = "what Barbican has stored can never be read again"
  }

  config "barbican.conf" {
    values = {
      DEFAULT = {
        debug          = false
        host_href      = endpoint.key-manager.public_url
        db_auto_create = false
      }
      keystone_authtoken   = { service_type = "key-manager" }
      oslo_policy          = { enforce_scope = cloud.release < 2026.2 ? true : null } # the default of all others; later they have no choice
      queue                = { enable = true }
      secretstore          = { enabled_secretstore_plugins = "store_crypto" }
      crypto               = { enabled_crypto_plugins = "simple_crypto" }
      simple_crypto_plugin = { kek = [for key in secret.kek.keys : [key]] } # one line for each key
    }
  }

  config "barbican-api.conf" {}

  config "barbican-worker.conf" {
    from   = "barbican.conf"
    values = { queue = { asynchronous_workers = 1 } }
  }

  # It listens where Keystone sends to.
  config "barbican-keystone-listener.conf" {
    enabled = input.keystone_listener
    from    = "barbican.conf"
    values = {
      DEFAULT = { transport_url = service.rabbitmq.transport_url }
      keystone_notifications = {
        enable = true
        topic  = "barbican_notifications"
      }
    }
  }

  config "barbican-api-uwsgi.ini" {
    values = {
      uwsgi = cloud.release >= 2025.2 ? {} : {
        module    = null
        wsgi-file = "/var/lib/kolla/venv/bin/barbican-wsgi-api"
      }
    }
  }

  config "barbican-api-paste.ini" {
    format   = "raw"
    path     = "/etc/barbican/barbican-api-paste.ini"
    optional = true
  }

  config "barbican-db.conf" {
    from = "barbican-api.conf"
  }

  config "barbican-rewrap.conf" {
    from   = "barbican-api.conf"
    only   = ["database", "simple_crypto_plugin"]
    values = { DEFAULT = { use_stderr = true } }
  }

  job "upgrade-check" {
    from   = "check"
    config = ["barbican-api.conf"]
  }

  job "db-sync" {
    from    = "database"
    command = ["barbican-db-manage", "upgrade"]
  }

  job "rewrap" {
    when    = "after"
    runs    = "rotation"
    image   = "barbican-api"
    user    = local.uid
    config  = ["barbican-rewrap.conf"]
    command = ["sh", "-c", file("${path.module}/barbican/rewrap.sh")]

    # The job reads the keys from its config file. The mount tells which rotations it follows.
    mount "kek" { path = "/run/secrets/kek" }
  }

  workload "api" {
    env    = local.locks # Barbican's options are not those that oslo.concurrency reads
    config = ["barbican-api.conf", "barbican-api-uwsgi.ini", "barbican-api-paste.ini", "policy.yaml"]

    resources {
      requests = { cpu = "100m", memory = "384Mi" }
      limits   = { cpu = "2", memory = "1Gi" }
    }
  }

  workload "worker" {
    from   = "daemon"
    kind   = "Deployment"
    env    = local.locks
    config = ["barbican-worker.conf", "policy.yaml"]

    resources {
      requests = { cpu = "50m", memory = "128Mi" }
      limits   = { cpu = "1", memory = "384Mi" }
    }

    ready {
      timeout = 15
    }
  }

  workload "keystone-listener" {
    from    = "daemon"
    enabled = input.keystone_listener
    kind    = "Deployment"
    env     = local.locks
    config  = ["barbican-keystone-listener.conf", "policy.yaml"]

    resources {
      requests = { cpu = "50m", memory = "128Mi" }
      limits   = { cpu = "1", memory = "384Mi" }
    }

    ready {
      timeout = 15
    }
  }
}
