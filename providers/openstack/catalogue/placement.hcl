# Placement under uWSGI: which resources there are on which node, and who has them. All of
# it is in the database: a restart costs nothing but the requests that are under way.
definition "placement" {
  from        = "api"
  description = "Inventory of what compute nodes have, and who uses it"

  locals {
    uid = 42482
  }

  port "api" {
    number    = 8780
    node_port = 30780
  }

  endpoint "placement" {
    port = "api"
  }

  config "placement.conf" {
    values = {
      DEFAULT            = { debug = false }
      database           = null
      placement_database = merge(local.database, { connection = database.placement.url })
      keystone_authtoken = { service_type = "placement" }
    }
  }

  config "placement-db.conf" {
    from = "placement-api.conf"
    only = ["placement_database"]
    values = {
      database           = null
      placement_database = local.database_unlimited
    }
  }

  job "upgrade-check" {
    from   = "check"
    config = ["placement-api.conf"]
  }

  job "db-sync" {
    from    = "database"
    command = ["placement-manage", "db", "sync"]
  }

  job "db-migrate" {
    from    = "database"
    when    = "after"
    command = ["placement-manage", "db", "online_data_migrations"]
  }

  workload "api" {
    config = ["placement-api.conf", "placement-api-uwsgi.ini", "policy.yaml"]

    resources {
      requests = { cpu = "100m", memory = "384Mi" }
      limits   = { cpu = "2", memory = "1Gi" }
    }

    ready {
      http = "/"
    }
  }
}
