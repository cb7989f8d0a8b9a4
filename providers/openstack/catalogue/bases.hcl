# What services of OpenStack have in common. Definitions of services start from these and say what
# is special about them. `kolla catalogue NAME` prints one of them.

# A service with a database, whose processes run under uWSGI or as daemons. The definition that
# starts from it declares local.uid, the number of the service's account in Kolla's images.
definition "database-service" {
  abstract    = true
  description = "Base of services with a database"

  database "*" {}

  config "*.conf" {
    path        = "/etc/${definition.name}/${definition.name}.conf"
    secret_path = "/etc/${definition.name}/${definition.name}.conf.d/secrets.conf"
    values = {
      DEFAULT  = { use_stderr = true }
      database = merge(local.database, { connection = database[definition.name].url })
      # Links in answers need https:// if the exposure encrypts, which X-Forwarded-Proto says.
      # Otherwise no header is believed: a pod cannot tell the proxy from others.
      oslo_middleware = { enable_proxy_headers_parsing = try(startswith(self.public_url, "https://"), false) }
      oslo_policy     = local.oslo_policy
    }
  }

  config "policy.yaml" {
    format   = "yaml"
    path     = "/etc/${definition.name}/policy.yaml"
    optional = true
  }

  # What the jobs read, so that they do not run again for the rest.
  config "*-db.conf" {
    from = "${definition.name}.conf"
    only = ["database"]
    values = {
      DEFAULT  = { use_stderr = true }
      database = local.database_unlimited
    }
  }

  # Jobs start from this one.
  job "database" {
    enabled = false
    image   = "${definition.name}-api"
    user    = local.uid
    config  = ["${definition.name}-db.conf"]
  }

  # Jobs that check an upgrade start from this one, and add the config files that the pods read.
  job "check" {
    enabled          = false
    when             = "check"
    image            = "${definition.name}-api"
    user             = local.uid
    command          = concat(local.check, ["${definition.name}-status"])
    config           = ["policy.yaml"]
    fatal_exit_codes = [2]
  }

  # APIs start from this one. They say which port is asked whether they live.
  workload "uwsgi" {
    enabled      = false
    kind         = "Deployment"
    image        = "${definition.name}-${workload.name}"
    user         = local.uid
    command      = ["uwsgi", "--ini", "/etc/${definition.name}/${definition.name}-${workload.name}-uwsgi.ini"]
    writable     = ["/var/lib/${definition.name}"]
    grace_period = 60

    startup {
      period  = 2
      retries = 60
    }

    ready {
      http = "/healthcheck"
    }

    live {
      period  = 60
      timeout = 60
      retries = 8
    }
  }
}

# A service with an API under uWSGI, on the port "api". The definition adds an endpoint.
definition "api" {
  abstract    = true
  from        = "database-service"
  description = "Base of services with an API"

  port "api" {
    expose = true
  }

  user "*" {
    roles = ["admin"]
  }

  config "*.conf" {
    values = {
      keystone_authtoken = merge(user[definition.name].auth, user[definition.name].authtoken)
      oslo_concurrency   = { lock_path = "/var/lib/${definition.name}/tmp" }
    }
  }

  # The names of kolla-ansible's containers are those of the overrides for them.
  config "*-api.conf" {
    from = "${definition.name}.conf"
  }

  config "*-api-uwsgi.ini" {
    path = "/etc/${definition.name}/${definition.name}-api-uwsgi.ini"
    values = {
      uwsgi = merge(local.uwsgi, {
        http-socket = "0.0.0.0:${port.api}"
        module      = "${definition.name}.wsgi.api:application"
      })
    }
  }

  workload "api" {
    from  = "uwsgi"
    ports = ["api"]

    live {
      exec = concat(local.alive, ["http://127.0.0.1:${port.api}/"])
    }
  }
}

# An API with daemons that take work from a queue.
definition "api-with-daemons" {
  abstract    = true
  from        = "api"
  description = "Base of services with an API and daemons"

  queue "*" {}

  config "*.conf" {
    values = {
      DEFAULT               = { transport_url = queue[definition.name].url }
      oslo_messaging_rabbit = queue[definition.name].settings
    }
  }

  config "*-api.conf" {
    values = {
      oslo_messaging_rabbit = local.rabbit_uwsgi
    }
  }

  # Daemons start from this one. One that is connected to the queue is ready. Nothing asks whether
  # it lives: when the queue is gone no restart helps, and a process that ended starts again.
  workload "daemon" {
    enabled      = false
    image        = "${definition.name}-${workload.name}"
    user         = local.uid
    command      = ["${definition.name}-${workload.name}"]
    writable     = ["/var/lib/${definition.name}"]
    grace_period = 60

    startup {
      retries = 360
    }

    ready {
      exec   = concat(local.connected, ["${definition.name}-${workload.name}", tostring(queue[definition.name].port)])
      period = 30
    }
  }
}

# A service with an exporter of metrics in pods of its own. The definition says what the exporter runs.
definition "exported" {
  abstract    = true
  description = "Base of services with an exporter of metrics"

  port "metrics" {
    enabled = cloud.metrics
  }

  workload "exporter" {
    enabled = cloud.metrics
    logs    = "console"
    ports   = ["metrics"]

    metrics {
      port = "metrics"
    }

    resources {
      requests = { cpu = "10m", memory = "32Mi" }
      limits   = { memory = "128Mi" }
    }

    ready {
      http = "/"
    }
  }
}

# A collector of logs. The block logging of the cloud makes a service of it: with the workload node, or
# with the workload sidecar, which is none of its own, but a container in the pods of others.
definition "collector" {
  abstract    = true
  description = "Base of collectors of logs"

  input "targets" {
    type = map(object({
      type     = optional(string, "opensearch")
      url      = string
      index    = optional(string)
      username = optional(string, "")
      password = optional(string, "")
      ca       = optional(string, "")
    }))
    description = "Stores, by name."
  }

  input "buffer" {
    type        = string
    default     = null
    description = "Size on disk of the records that a store has not taken yet."
  }

  locals {
    buffer = input.buffer != null ? input.buffer : cloud.logging == "node" ? "1Gi" : "256Mi"
    # In MiB, as collectors read it, for which all units are powers of two.
    units = {
      "" = 1 / 1048576
      K  = 1 / 1024
      M  = 1
      G  = 1024
      T  = 1048576
    }
    buffer_size = tonumber(regex("^[0-9.]+", local.buffer)) * lookup(local.units, upper(join("", regexall("[kKMGT]", local.buffer))), 1)
    targets = [for name, t in input.targets : merge(t, {
      name     = name
      variable = upper(replace(name, "-", "_"))
      index    = t.index != null ? t.index : cloud.name
    })]
    authorities = join("\n", [for t in local.targets : t.ca if t.ca != ""])
    start       = ["sh", "-ec", file("${path.module}/collector/start.sh"), "sh"]
    # What templates of configurations get.
    template = {
      mode      = cloud.logging
      name      = self.name
      cloud     = cloud.name
      namespace = cloud.namespace
      buffer    = lower(replace(local.buffer, "i", ""))
      ca        = local.authorities == "" ? "" : "/etc/kolla/logs-ca.pem"
      targets   = local.targets
    }
    # Programs read the logins of stores from here, so that no configuration has to quote them.
    logins = merge({}, [for t in local.targets : {
      "KOLLA_USER_${t.variable}"     = t.username
      "KOLLA_PASSWORD_${t.variable}" = t.password
    } if t.username != ""]...)
    # Names of workloads and jobs by the names of their pods, without the last parts.
    table = [for w in cloud.logs : { index = "${w.kind}/${w.service}-${w.workload}", value = "${w.service} ${w.workload}" }]
  }

  config "logs-ca.pem" {
    enabled = local.authorities != ""
    format  = "raw"
    path    = "/etc/kolla/logs-ca.pem"
    content = local.authorities
  }

  workload "node" {
    enabled     = cloud.logging == "node"
    kind        = "DaemonSet"
    image       = input.image
    user        = 0
    reason      = "Only root can read what the container runtime writes of all pods of a node."
    command     = local.command
    config      = ["kolla-logs.conf", "logs-ca.pem"]
    tolerations = [{ operator = "Exists" }]
    env         = merge(local.logins, { KOLLA_NODE = node.name })

    volume "pods" {
      host      = "/var/log/pods"
      create    = false
      read_only = true
    }

    # Outlives the pod, so that an update loses nothing and sends nothing twice.
    volume "buffer" {
      host = "/var/lib/kolla/logs/${cloud.namespace}"
      path = "/var/spool/kolla"
    }

    resources {
      requests = { cpu = "50m", memory = "64Mi" }
      limits   = { memory = "512Mi" }
    }
  }

  # Runs as the user of the other containers of the pod, to read their files.
  workload "sidecar" {
    enabled = cloud.logging == "sidecar"
    kind    = "Deployment"
    image   = input.image
    command = local.command
    config  = ["kolla-logs.conf", "logs-ca.pem"]
    env     = merge(local.logins, { KOLLA_NODE = node.name, KOLLA_POD = pod.name })

    volume "buffer" {
      # Each target has a buffer and, for records that it refused, a smaller one.
      shared = "${ceil(local.buffer_size * length(local.targets)) + 32 * length(local.targets) + 32}Mi"
      path   = "/var/spool/kolla"
    }

    resources {
      requests = { cpu = "10m", memory = "32Mi" }
      limits   = { memory = "256Mi" }
    }
  }
}
