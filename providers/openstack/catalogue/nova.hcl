# Nova without its hypervisors: the API under uWSGI, metadata for servers, scheduler, conductor
# and consoles, with cell0 and a first cell, cell1. All is in the databases: no server notices a restart.
definition "nova" {
  from        = "api-with-daemons"
  description = "Servers: API, scheduler, and the first cell"

  input "cells" {
    type = list(object({
      name          = string
      transport_url = string
      cell_database = string
    }))
    default     = []
    nullable    = false
    description = "More cells: services of the definition nova-cell."
  }

  port "api" {
    number    = 8774
    node_port = 30774
  }

  port "metadata" {
    number = 8775
  }

  port "vnc" {
    number    = 6080
    expose    = true
    node_port = 30680
  }

  database "nova_api" {}
  database "nova" {}
  database "nova_cell0" {}

  user "nova" {
    roles = ["admin", "service"]
  }

  endpoint "compute" {
    port = "api"
    path = "/v2.1"
  }

  # What Nova and the agents on its hypervisors sign the identity of servers with.
  secret "metadata" {}
  secret "migration" {} # hypervisors authenticate each other with it when servers move

  locals {
    uid   = 42436
    auth  = merge(user.nova.auth, { valid_interfaces = "internal" })
    same  = "{scheme}://{username}:{password}@{hostname}:{port}/{path}" # as in db-sync.sh
    cells = ["cell0.conf", "cells.conf"]                                # daemons read them when they start, and never again
  }

  config "nova.conf" {
    pins = local.nova_pins
    values = {
      DEFAULT = {
        state_path                = "/var/lib/nova"
        allow_resize_to_same_host = true
        manager_shutdown_timeout  = local.nova_shutdown_timeout
      }
      api_database       = merge(local.database, { connection = database.nova_api.url })
      keystone_authtoken = { service_type = "compute" }
      service_user       = merge(user.nova.auth, { send_service_user_token = true })
      placement          = local.auth
      glance = {
        valid_interfaces = "internal"
        region_name      = cloud.region
      }
      cinder = merge(user.nova.auth, {
        catalog_info   = "block-storage::internalURL"
        os_region_name = cloud.region
      })
      neutron = merge(local.auth, {
        service_metadata_proxy       = true
        metadata_proxy_shared_secret = secret.metadata.value
      })
      barbican = {
        auth_endpoint          = "${service.keystone.url}/v3"
        barbican_endpoint_type = "internal"
        barbican_region_name   = cloud.region
      }
      cache = {
        enabled          = true
        backend          = "oslo_cache.memcache_pool"
        memcache_servers = service.memcached.servers
      }
      conductor      = { workers = 2 }
      upgrade_levels = { compute = "auto" }
      vnc = {
        novncproxy_host = "0.0.0.0"
        novncproxy_port = port.vnc
      }
    }
  }

  config "nova-api.conf" {}

  config "nova-metadata.conf" {
    from   = "nova.conf"
    values = { oslo_messaging_rabbit = local.rabbit_uwsgi }
  }

  # Hypervisors that no job has found, as they were down then, are found later.
  config "nova-scheduler.conf" {
    from = "nova.conf"
    values = {
      scheduler = {
        workers                          = 2
        discover_hosts_in_cells_interval = 300
      }
    }
  }

  config "nova-conductor.conf" {
    from = "nova.conf"
  }

  config "nova-novncproxy.conf" {
    from = "nova.conf"
  }

  config "nova-api-uwsgi.ini" {
    values = {
      uwsgi = {
        module   = "nova.wsgi.osapi_compute:application"
        harakiri = 1860 # it waits for a hypervisor as long as long_rpc_timeout
      }
    }
  }

  config "nova-metadata-uwsgi.ini" {
    path = "/etc/nova/nova-metadata-uwsgi.ini"
    values = {
      uwsgi = merge(local.uwsgi, {
        http-socket = "0.0.0.0:${port.metadata}"
        module      = "nova.wsgi.metadata:application"
      })
    }
  }

  config "nova-db.conf" {
    only = ["api_database", "database"]
    values = {
      DEFAULT      = { transport_url = queue.nova.url }
      api_database = local.database_unlimited
    }
  }

  config "cell0.conf" {
    path   = "/etc/nova/cell0.conf"
    values = { database = { connection = database.nova_cell0.url } }
  }

  config "cells.conf" {
    enabled = length(input.cells) > 0
    path    = "/etc/nova/cells.conf"
    values = { for c in input.cells : c.name => {
      transport_url = c.transport_url
      connection    = c.cell_database
    } }
  }

  # Asks Keystone and Placement, too.
  job "upgrade-check" {
    from   = "check"
    config = ["nova.conf"]
  }

  job "db-sync" {
    from = "database"
    command = [
      "sh", "-ec", file("${path.module}/nova/db-sync.sh"),
      "sh", file("${path.module}/nova/cells.sh"), "", file("${path.module}/nova/map.py"),
    ]
    config   = local.cells
    writable = ["/var/lib/nova"]

    maps_cells {
      addresses = try(database.nova_api.addresses, [])
      username  = database.nova_api.user
      password  = database.nova_api.password
      database  = database.nova_api.name
      cells = concat(
        [
          {
            name                = "cell0"
            uuid                = "00000000-0000-0000-0000-000000000000"
            transport_url       = "none:///"
            database_connection = database.nova_cell0.url
          },
          {
            name                = "cell1"
            uuid                = null
            transport_url       = local.same
            database_connection = local.same
          },
        ],
        [for c in input.cells : {
          name                = c.name
          uuid                = null
          transport_url       = c.transport_url
          database_connection = c.cell_database
        }],
      )
    }
  }

  job "db-online" {
    from     = "database"
    when     = "after"
    command  = ["sh", "-ec", file("${path.module}/nova/db-online.sh"), "sh", file("${path.module}/nova/cells.sh"), ""]
    config   = local.cells
    writable = ["/var/lib/nova"]
  }

  # The database knows daemons by the names of their pods. A start may take an hour.
  workload "conductor" {
    from         = "daemon"
    follows      = ["nova-compute"]
    kind         = "StatefulSet"
    config       = concat(["nova-conductor.conf"], local.cells)
    grace_period = local.nova_grace_period

    resources {
      requests = { cpu = "100m", memory = "384Mi" }
      limits   = { cpu = "2", memory = "1Gi" }
    }
  }

  workload "scheduler" {
    from         = "daemon"
    follows      = ["nova-compute"]
    kind         = "StatefulSet"
    config       = concat(["nova-scheduler.conf"], local.cells)
    grace_period = local.nova_grace_period

    resources {
      requests = { cpu = "100m", memory = "384Mi" }
      limits   = { cpu = "2", memory = "1Gi" }
    }
  }

  workload "api" {
    follows = ["nova-compute"]
    config  = concat(["nova-api.conf", "nova-api-uwsgi.ini", "policy.yaml"], local.cells)

    resources {
      requests = { cpu = "100m", memory = "640Mi" }
      limits   = { cpu = "2", memory = "2Gi" }
    }

    startup {
      enabled = false
    }

    ready {
      http = "/"
    }
  }

  workload "metadata" {
    from    = "uwsgi"
    follows = ["nova-compute"]
    image   = "nova-api"
    ports   = ["metadata"]
    config  = concat(["nova-metadata.conf", "nova-metadata-uwsgi.ini"], local.cells)

    resources {
      requests = { cpu = "50m", memory = "512Mi" }
      limits   = { cpu = "2", memory = "2Gi" }
    }

    startup {
      enabled = false
    }

    ready {
      http = "/"
    }

    live {
      exec = concat(local.alive, ["http://127.0.0.1:${port.metadata}/"])
    }
  }

  workload "novncproxy" {
    kind     = "Deployment"
    image    = "nova-novncproxy"
    user     = local.uid
    command  = ["nova-novncproxy"]
    ports    = ["vnc"]
    config   = ["nova-novncproxy.conf"]
    writable = ["/var/lib/nova"]

    resources {
      requests = { cpu = "50m", memory = "256Mi" }
      limits   = { cpu = "2", memory = "1Gi" }
    }

    ready { # it forks for each connection
      http   = "/vnc_lite.html"
      period = 30
    }
  }

  # Hypervisors and their agents read these.
  output "transport_url" { value = queue.nova.url }
  output "queue_settings" { value = queue.nova.settings }
  output "queue_port" { value = queue.nova.port }
  output "api_database" { value = database.nova_api.url }
  output "cell_database" { value = database.nova.url }
  output "metadata_secret" { value = secret.metadata.value }
  output "migration_secret" { value = secret.migration.value }
}
