# Services that have users, queues and endpoints on others.
cloud "registered" {
  release = "2026.1"
}

role "control" {
  nodes = ["n1"]
}

exposure "public" {
  vip  = "192.0.2.1"
  fqdn = "cloud.example.org"
}

service "mariadb" {
  role = role.control
}

service "memcached" {
  role = role.control
}

service "rabbitmq" {
  role = role.control
}

service "keystone" {
  role   = role.control
  expose = exposure.public
}

definition "stack" {
  port "api" {
    number = 8004
    expose = true
  }

  port "cfn" {
    number = 8000
  }

  queue "stack" {}

  user "stack" {
    roles = ["admin", "service"]
  }

  user "stack_domain_admin" {
    domain = "stacks"
    roles  = ["admin"]
  }

  identity_role "stack_owner" {}

  endpoint "orchestration" {
    port = "api"
    path = "/v1/%(tenant_id)s"
  }

  endpoint "cloudformation" {
    name = "stack-cfn"
    port = "cfn"
    path = "/v1"
  }

  config "stack.conf" {
    path        = "/etc/stack/stack.conf"
    secret_path = "/etc/stack/stack.conf.d/secrets.conf"
    values = {
      DEFAULT = {
        transport_url               = queue.stack.url
        stack_domain_admin_password = user.stack_domain_admin.password
      }
      keystone_authtoken    = merge(user.stack.auth, user.stack.authtoken, { service_type = "orchestration" })
      domain_admin          = user.stack_domain_admin.auth
      oslo_messaging_rabbit = merge(queue.stack.settings, { heartbeat_in_pthread = true })
    }
  }

  job "sync" {
    image   = "registry.example.org/stack:1"
    command = ["stack", "sync"]
    config  = ["stack.conf"]
  }

  job "announce" {
    when    = "after"
    image   = "registry.example.org/stack:1"
    command = ["stack", "announce", endpoint.orchestration.public_url]
  }

  workload "api" {
    kind    = "Deployment"
    image   = "registry.example.org/stack:1"
    command = ["stack", "api"]
    ports   = ["api", "cfn"]
    config  = ["stack.conf"]
  }
}

service "stack" {
  role   = role.control
  expose = exposure.public
}
