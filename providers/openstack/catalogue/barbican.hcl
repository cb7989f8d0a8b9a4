# Barbican under uWSGI, and workers that carry out orders. What it keeps is in the database,
# encrypted by the project, with keys that one key encrypts: the secret "kek".
definition "barbican" {
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

  port "api" {
    number    = 9311
    expose    = true
    node_port = 30311
  }

  database "barbican" {}

  queue "barbican" {}

  user "barbican" {
    roles = ["admin"]
  }

  identity_role "key-manager:service-admin" {}
  identity_role "creator" {}
  identity_role "observer" {}
  identity_role "audit" {}

  endpoint "key-manager" {
    port = "api"
  }

  secret "kek" {
    kind = "base64"
    loss = "what Barbican has stored can never be read again"
  }

  config "barbican.conf" {
    format      = "ini"
    path        = "/etc/barbican/barbican.conf"
    secret_path = "/etc/barbican/barbican.conf.d/secrets.conf"
    values = {
      DEFAULT = {
        debug          = false
        use_stderr     = true
        host_href      = endpoint.key-manager.public_url
        db_auto_create = false
        transport_url  = queue.barbican.url
      }
      database              = merge(local.database, { connection = database.barbican.url })
      keystone_authtoken    = merge(user.barbican.auth, user.barbican.authtoken, { service_type = "key-manager" })
      oslo_messaging_rabbit = queue.barbican.settings
      oslo_concurrency      = { lock_path = "/var/lib/barbican/tmp" }
      oslo_middleware       = local.oslo_middleware
      queue                 = { enable = true }
      secretstore           = { enabled_secretstore_plugins = "store_crypto" }
      crypto                = { enabled_crypto_plugins = "simple_crypto" }
      simple_crypto_plugin  = { kek = secret.kek.value }
    }
  }

  # The names of kolla-ansible's containers are those of the overrides for them.
  config "barbican-api.conf" {
    from   = "barbican.conf"
    values = { oslo_messaging_rabbit = local.rabbit_uwsgi }
  }

  config "barbican-worker.conf" {
    from   = "barbican.conf"
    values = { queue = { asynchronous_workers = 1 } }
  }

  # It listens where Keystone sends to.
  config "barbican-keystone-listener.conf" {
    enabled = input.keystone_listener
    from    = "barbican.conf"
    values = {
      DEFAULT                = { transport_url = service.rabbitmq.transport_url }
      keystone_notifications = { enable = true, topic = "barbican_notifications" }
    }
  }

  config "barbican-api-uwsgi.ini" {
    format = "ini"
    path   = "/etc/barbican/barbican-api-uwsgi.ini"
    values = {
      uwsgi = merge(local.uwsgi, { http-socket = "0.0.0.0:${port.api}" },
        cloud.release >= 2025.2 ? { module = "barbican.wsgi.api:application" } : { wsgi-file = "/var/lib/kolla/venv/bin/barbican-wsgi-api" },
      )
    }
  }

  config "barbican-api-paste.ini" {
    format   = "raw"
    path     = "/etc/barbican/barbican-api-paste.ini"
    optional = true
  }

  config "policy.yaml" {
    format   = "yaml"
    path     = "/etc/barbican/policy.yaml"
    optional = true
  }

  # What the job reads, so that it does not run again for the rest.
  config "barbican-db.conf" {
    from   = "barbican-api.conf"
    only   = ["database"]
    values = { DEFAULT = { use_stderr = true }, database = local.database_unlimited }
  }

  job "db-sync" {
    image   = "barbican-api"
    user    = 42403
    command = ["barbican-db-manage", "upgrade"]
    config  = ["barbican-db.conf"]
  }

  workload "api" {
    kind         = "Deployment"
    image        = "barbican-api"
    user         = 42403
    command      = ["uwsgi", "--ini", "/etc/barbican/barbican-api-uwsgi.ini"]
    ports        = ["api"]
    config       = ["barbican-api.conf", "barbican-api-uwsgi.ini", "barbican-api-paste.ini", "policy.yaml"]
    writable     = ["/var/lib/barbican"]
    grace_period = 60

    resources {
      requests = { cpu = "100m", memory = "384Mi" }
      limits   = { cpu = "2", memory = "1Gi" }
    }

    startup {
      period  = 2
      retries = 60
    }

    ready { http = "/healthcheck" }

    live {
      exec    = concat(local.alive, ["http://127.0.0.1:${port.api}/"])
      period  = 60
      timeout = 60
      retries = 8
    }
  }

  workload "worker" {
    kind         = "Deployment"
    image        = "barbican-worker"
    user         = 42403
    command      = ["barbican-worker"]
    config       = ["barbican-worker.conf", "policy.yaml"]
    writable     = ["/var/lib/barbican"]
    grace_period = 60

    resources {
      requests = { cpu = "50m", memory = "128Mi" }
      limits   = { cpu = "1", memory = "384Mi" }
    }

    # It has work only while it is connected to the queue.
    startup { retries = 360 }
    ready {
      exec    = ["healthcheck_port", "barbican-worker", tostring(service.rabbitmq.port)]
      period  = 30
      timeout = 15
    }
  }

  workload "keystone-listener" {
    enabled      = input.keystone_listener
    kind         = "Deployment"
    image        = "barbican-keystone-listener"
    user         = 42403
    command      = ["barbican-keystone-listener"]
    config       = ["barbican-keystone-listener.conf", "policy.yaml"]
    writable     = ["/var/lib/barbican"]
    grace_period = 60

    resources {
      requests = { cpu = "50m", memory = "128Mi" }
      limits   = { cpu = "1", memory = "384Mi" }
    }

    startup { retries = 360 }
    ready {
      exec    = ["healthcheck_port", "barbican-keystone-listener", tostring(service.rabbitmq.port)]
      period  = 30
      timeout = 15
    }
  }
}
