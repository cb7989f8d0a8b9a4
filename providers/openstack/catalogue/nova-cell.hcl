# A cell of Nova beside the first one: a database and a queue on servers of its own, a
# conductor, and the consoles of its servers. Nova calls the cell as the service:
#
#   service "nova" { cells = [service.nova-cell2] }
#   service "nova-cell2" {
#     definition = "nova-cell"
#     with       = { mariadb = service.mariadb-cell2, rabbitmq = service.rabbitmq-cell2 }
#   }
#   service "nova-compute-cell2" {
#     definition = "nova-compute"
#     cell       = service.nova-cell2
#   }
#
# Give the hypervisors of each cell a role of their own. Where nova-compute has had the role of
# all hypervisors, apply its narrower role first: otherwise it starts for a moment on the nodes
# of the new cell, and registers them in the first one.
#
# Nothing in a cell reads the database of the API, so servers do not move between cells. To
# remove a cell, give its hypervisors' service a role without nodes, apply, delete the cell with
# `nova-manage cell_v2 delete_cell` in a pod of Nova's API, and then take its blocks away.
definition "nova-cell" {
  description = "One more cell of Nova: database, queue, conductor, consoles"
  project     = "nova"

  port "vnc" {
    number    = 6080
    public    = 6081
    expose    = true
    node_port = 30681
  }

  database "nova" { name = replace(self.name, "-", "_") }
  queue "nova" { name = replace(self.name, "-", "_") }

  user "nova_cell" {
    name  = self.name
    roles = ["admin", "service"]
  }

  secret "migration" {} # hypervisors of the cell authenticate each other with it when servers move

  locals { auth = merge(user.nova_cell.auth, { valid_interfaces = "internal" }) }

  config "nova.conf" {
    path        = "/etc/nova/nova.conf"
    secret_path = "/etc/nova/nova.conf.d/secrets.conf"
    pins        = local.nova_pins
    values = {
      DEFAULT = {
        use_stderr               = true
        transport_url            = queue.nova.url
        state_path               = "/var/lib/nova"
        manager_shutdown_timeout = local.nova_shutdown_timeout
      }
      database     = merge(local.database, { connection = database.nova.url })
      service_user = merge(user.nova_cell.auth, { send_service_user_token = true })
      placement    = local.auth
      glance       = { valid_interfaces = "internal", region_name = cloud.region }
      cinder       = merge(user.nova_cell.auth, { catalog_info = "block-storage::internalURL", os_region_name = cloud.region })
      neutron      = local.auth
      barbican = {
        auth_endpoint          = "${service.keystone.url}/v3"
        barbican_endpoint_type = "internal"
        barbican_region_name   = cloud.region
      }
      conductor             = { workers = 2 }
      upgrade_levels        = { compute = "auto" }
      vnc                   = { novncproxy_host = "0.0.0.0", novncproxy_port = port.vnc }
      oslo_concurrency      = { lock_path = "/var/lib/nova/tmp" }
      oslo_messaging_rabbit = queue.nova.settings
    }
  }

  # The names of kolla-ansible's containers are those of the overrides for them.
  config "nova-conductor.conf" { from = "nova.conf" }
  config "nova-novncproxy.conf" { from = "nova.conf" }

  # The job reads this, and does not run again for the rest.
  config "nova-db.conf" {
    from   = "nova.conf"
    only   = ["database"]
    values = { DEFAULT = { use_stderr = true }, database = local.database_unlimited }
  }

  job "db-sync" {
    image    = "nova-conductor"
    user     = 42436
    command  = ["nova-manage", "db", "sync", "--local_cell"]
    config   = ["nova-db.conf"]
    writable = ["/var/lib/nova"]
  }

  # The database knows it by the name of its pod.
  workload "conductor" {
    follows      = ["nova-compute"]
    kind         = "StatefulSet"
    image        = "nova-conductor"
    user         = 42436
    command      = ["nova-conductor"]
    config       = ["nova-conductor.conf"]
    writable     = ["/var/lib/nova"]
    grace_period = local.nova_grace_period

    resources {
      requests = { cpu = "100m", memory = "384Mi" }
      limits   = { cpu = "2", memory = "1Gi" }
    }

    startup { retries = 360 }
    ready {
      exec   = concat(local.connected, ["nova-conductor", tostring(queue.nova.port)])
      period = 30
    }
  }

  workload "novncproxy" {
    kind     = "Deployment"
    image    = "nova-novncproxy"
    user     = 42436
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

  # Nova and hypervisors of the cell read these.
  output "transport_url" { value = queue.nova.url }
  output "queue_settings" { value = queue.nova.settings }
  output "queue_port" { value = queue.nova.port }
  output "cell_database" { value = database.nova.url }
  output "migration_secret" { value = secret.migration.value }
}
