# Heat under uWSGI, and its engine. Everything is in the database: a restart costs
# nothing, and an engine that ends leaves what it was doing to the others.
definition "heat" {
  from        = "api-with-daemons"
  description = "Orchestration: stacks of resources, made from templates"

  locals {
    uid = 42418
  }

  port "api" {
    number    = 8004
    node_port = 30804
  }

  # Servers of stacks report to it, and read their metadata there.
  port "cfn" {
    number    = 8000
    expose    = true
    node_port = 30800
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
    values = {
      DEFAULT = {
        debug                         = false
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
      keystone_authtoken = { service_type = "orchestration" }
      # Heat acts for the owner of a stack by a trust, which has a project already.
      trustee = merge(user.heat.auth, {
        project_name        = null
        project_domain_name = null
        region_name         = null
      })
      # Signatures of servers are checked by Keystone, which asks Heat who it is.
      ec2authtoken = merge(user.heat.auth, { valid_interfaces = "internal" })
      clients      = { endpoint_type = "internalURL" }
      # Of this client is the address in signals, which servers of the cloud send.
      clients_heat     = { endpoint_type = "publicURL" }
      clients_keystone = { auth_uri = service.keystone.url }
      cache = {
        enabled          = true
        backend          = "oslo_cache.memcache_pool"
        memcache_servers = service.memcached.servers
      }
      oslo_concurrency = null
      volumes          = { backups_enabled = try(service.cinder.backups, false) }
    }
  }

  config "heat-api.conf" {}

  config "heat-api-cfn.conf" {
    from   = "heat.conf"
    values = { oslo_messaging_rabbit = local.rabbit_uwsgi }
  }

  config "heat-engine.conf" {
    from   = "heat.conf"
    values = { DEFAULT = { num_engine_workers = 2 } }
  }

  config "heat-api-uwsgi.ini" {}

  config "heat-api-cfn-uwsgi.ini" {
    path = "/etc/heat/heat-api-cfn-uwsgi.ini"
    values = {
      uwsgi = merge(local.uwsgi, {
        http-socket = "0.0.0.0:${port.cfn}"
        module      = "heat.wsgi.cfn:application"
      })
    }
  }

  job "upgrade-check" {
    from   = "check"
    config = ["heat-api.conf"]
  }

  job "db-sync" {
    from    = "database"
    command = ["heat-manage", "db_sync"]
  }

  workload "api" {
    env      = local.locks
    config   = ["heat-api.conf", "heat-api-uwsgi.ini", "policy.yaml"]
    writable = []

    resources {
      requests = { cpu = "100m", memory = "384Mi" }
      limits   = { cpu = "2", memory = "1Gi" }
    }
  }

  workload "api-cfn" {
    from     = "uwsgi"
    ports    = ["cfn"]
    env      = local.locks
    config   = ["heat-api-cfn.conf", "heat-api-cfn-uwsgi.ini", "policy.yaml"]
    writable = []

    resources {
      requests = { cpu = "50m", memory = "384Mi" }
      limits   = { cpu = "2", memory = "1Gi" }
    }

    live {
      exec = concat(local.alive, ["http://127.0.0.1:${port.cfn}/"])
    }
  }

  workload "engine" {
    from         = "daemon"
    kind         = "Deployment"
    env          = local.locks
    config       = ["heat-engine.conf", "policy.yaml"]
    writable     = []
    grace_period = 120 # a resource that is being made is finished

    resources {
      requests = { cpu = "200m", memory = "512Mi" }
      limits   = { cpu = "2", memory = "2Gi" }
    }

    ready {
      timeout = 10
    }
  }
}
