# Placement under uWSGI: which resources there are on which node, and who has them. All of
# it is in the database: a restart costs nothing but the requests that are under way.
definition "placement" {
  description = "Inventory of what compute nodes have, and who uses it"

  port "api" {
    number    = 8780
    expose    = true
    node_port = 30780
  }

  database "placement" {}

  user "placement" {
    roles = ["admin"]
  }

  endpoint "placement" {
    port = "api"
  }

  config "placement.conf" {
    format      = "ini"
    path        = "/etc/placement/placement.conf"
    secret_path = "/etc/placement/placement.conf.d/secrets.conf"
    values = {
      DEFAULT = {
        debug      = false
        use_stderr = true
      }
      placement_database = merge(local.database, { connection = database.placement.url })
      keystone_authtoken = merge(user.placement.auth, user.placement.authtoken, { service_type = "placement" })
      oslo_concurrency   = { lock_path = "/var/lib/placement/tmp" }
      oslo_middleware    = local.oslo_middleware
    }
  }

  # The names of kolla-ansible's containers are those of the overrides for them.
  config "placement-api.conf" {
    from = "placement.conf"
  }

  config "placement-api-uwsgi.ini" {
    format = "ini"
    path   = "/etc/placement/placement-api-uwsgi.ini"
    values = {
      uwsgi = merge(local.uwsgi, {
        http-socket = "0.0.0.0:${port.api}"
        module      = "placement.wsgi.api:application"
      })
    }
  }

  config "policy.yaml" {
    format   = "yaml"
    path     = "/etc/placement/policy.yaml"
    optional = true
  }

  # What the jobs read, so that they do not run again for the rest.
  config "placement-db.conf" {
    from   = "placement-api.conf"
    only   = ["placement_database"]
    values = { DEFAULT = { use_stderr = true }, placement_database = local.database_unlimited }
  }

  job "db-sync" {
    image   = "placement-api"
    user    = 42482
    command = ["placement-manage", "db", "sync"]
    config  = ["placement-db.conf"]
  }

  job "db-migrate" {
    when    = "after"
    image   = "placement-api"
    user    = 42482
    command = ["placement-manage", "db", "online_data_migrations"]
    config  = ["placement-db.conf"]
  }

  workload "api" {
    kind         = "Deployment"
    image        = "placement-api"
    user         = 42482
    command      = ["uwsgi", "--ini", "/etc/placement/placement-api-uwsgi.ini"]
    ports        = ["api"]
    config       = ["placement-api.conf", "placement-api-uwsgi.ini", "policy.yaml"]
    writable     = ["/var/lib/placement"]
    grace_period = 60

    resources {
      requests = { cpu = "100m", memory = "384Mi" }
      limits   = { cpu = "2", memory = "1Gi" }
    }

    startup {
      period  = 2
      retries = 60
    }

    ready { http = "/" }

    live {
      exec    = concat(local.alive, ["http://127.0.0.1:${port.api}/"])
      period  = 60
      timeout = 60
      retries = 8
    }
  }
}
