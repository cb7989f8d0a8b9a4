# Heat under uWSGI, and its engine. Everything is in the database: a restart costs
# nothing, and an engine that ends leaves what it was doing to the others.
definition "heat" {
  description = "Orchestration: stacks of resources, made from templates"

  port "api" {
    number    = 8004
    expose    = true
    node_port = 30804
  }

  # Servers of stacks report to it, and read their metadata there.
  port "cfn" {
    number    = 8000
    expose    = true
    node_port = 30800
  }

  database "heat" {}
  queue "heat" {}

  user "heat" {
    roles = ["admin"]
  }

  # Stacks make users in this domain, for their servers.
  user "heat_domain_admin" {
    domain = "heat_user_domain"
    roles  = ["admin"]
  }

  identity_role "heat_stack_owner" {}
  identity_role "heat_stack_user" {}

  endpoint "orchestration" {
    port = "api"
    path = "/v1/%(tenant_id)s"
  }

  endpoint "cloudformation" {
    name = "heat-cfn"
    port = "cfn"
    path = "/v1"
  }

  # 32 characters: Heat takes no other number of them.
  secret "encryption" {
    loss = "hidden parameters and stored credentials of stacks can never be read again"
  }

  config "heat.conf" {
    path        = "/etc/heat/heat.conf"
    secret_path = "/etc/heat/heat.conf.d/secrets.conf"
    values = {
      DEFAULT = {
        debug                         = false
        use_stderr                    = true
        transport_url                 = queue.heat.url
        auth_encryption_key           = secret.encryption.value
        rpc_response_timeout          = 240 # the engine asks all other services about a template
        region_name_for_services      = cloud.region
        heat_metadata_server_url      = self.ports.cfn.public_url
        heat_waitcondition_server_url = "${self.ports.cfn.public_url}/v1/waitcondition"
        heat_stack_user_role          = "heat_stack_user"
        stack_user_domain_name        = "heat_user_domain"
        stack_domain_admin            = user.heat_domain_admin.name
        stack_domain_admin_password   = user.heat_domain_admin.password
        server_keystone_endpoint_type = "public"
      }
      database           = merge(local.database, { connection = database.heat.url })
      keystone_authtoken = merge(user.heat.auth, user.heat.authtoken, { service_type = "orchestration" })
      # Heat acts for the owner of a stack by a trust, which has a project already.
      trustee = merge(user.heat.auth, { project_name = null, project_domain_name = null, region_name = null })
      # Signatures of servers are checked by Keystone, which asks Heat who it is.
      ec2authtoken = merge(user.heat.auth, { valid_interfaces = "internal" })
      clients      = { endpoint_type = "internalURL" }
      # Of this client is the address in signals, which servers of the cloud send.
      clients_heat = { endpoint_type = "publicURL" }
      clients_keystone = {
        auth_uri = service.keystone.url
      }
      cache = {
        enabled          = true
        backend          = "oslo_cache.memcache_pool"
        memcache_servers = service.memcached.servers
      }
      oslo_messaging_rabbit = queue.heat.settings
      oslo_middleware       = local.oslo_middleware
      volumes               = { backups_enabled = try(service.cinder.backups, false) }
    }
  }

  config "heat-api.conf" {
    from   = "heat.conf"
    values = { oslo_messaging_rabbit = local.rabbit_uwsgi }
  }

  config "heat-api-cfn.conf" {
    from   = "heat.conf"
    values = { oslo_messaging_rabbit = local.rabbit_uwsgi }
  }

  config "heat-engine.conf" {
    from   = "heat.conf"
    values = { DEFAULT = { num_engine_workers = 2 } }
  }

  config "heat-api-uwsgi.ini" {
    path   = "/etc/heat/heat-api-uwsgi.ini"
    values = { uwsgi = merge(local.uwsgi, { http-socket = "0.0.0.0:${port.api}", module = "heat.wsgi.api:application" }) }
  }

  config "heat-api-cfn-uwsgi.ini" {
    path   = "/etc/heat/heat-api-cfn-uwsgi.ini"
    values = { uwsgi = merge(local.uwsgi, { http-socket = "0.0.0.0:${port.cfn}", module = "heat.wsgi.cfn:application" }) }
  }

  config "policy.yaml" {
    format   = "yaml"
    path     = "/etc/heat/policy.yaml"
    optional = true
  }

  # What the job reads, so that it does not run again for the rest.
  config "heat-db.conf" {
    from   = "heat.conf"
    only   = ["database"]
    values = { DEFAULT = { use_stderr = true }, database = local.database_unlimited }
  }

  job "db-sync" {
    image   = "heat-api"
    user    = 42418
    command = ["heat-manage", "db_sync"]
    config  = ["heat-db.conf"]
  }

  workload "api" {
    kind         = "Deployment"
    image        = "heat-api"
    user         = 42418
    command      = ["uwsgi", "--ini", "/etc/heat/heat-api-uwsgi.ini"]
    ports        = ["api"]
    config       = ["heat-api.conf", "heat-api-uwsgi.ini", "policy.yaml"]
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

  workload "api-cfn" {
    kind         = "Deployment"
    image        = "heat-api-cfn"
    user         = 42418
    command      = ["uwsgi", "--ini", "/etc/heat/heat-api-cfn-uwsgi.ini"]
    ports        = ["cfn"]
    config       = ["heat-api-cfn.conf", "heat-api-cfn-uwsgi.ini", "policy.yaml"]
    grace_period = 60

    resources {
      requests = { cpu = "50m", memory = "384Mi" }
      limits   = { cpu = "2", memory = "1Gi" }
    }

    startup {
      period  = 2
      retries = 60
    }

    ready { http = "/healthcheck" }

    live {
      exec    = concat(local.alive, ["http://127.0.0.1:${port.cfn}/"])
      period  = 60
      timeout = 60
      retries = 8
    }
  }

  workload "engine" {
    kind         = "Deployment"
    image        = "heat-engine"
    user         = 42418
    command      = ["heat-engine"]
    config       = ["heat-engine.conf", "policy.yaml"]
    grace_period = 120 # a resource that is being made is finished

    resources {
      requests = { cpu = "200m", memory = "512Mi" }
      limits   = { cpu = "2", memory = "2Gi" }
    }

    # A connection to the queue. When the queue is gone no restart helps: nothing asks
    # whether the engine lives, as a process that ended starts again anyway.
    startup { retries = 360 }
    ready {
      exec    = ["healthcheck_port", "heat-engine", tostring(queue.heat.port)]
      period  = 30
      timeout = 10
    }
  }
}
