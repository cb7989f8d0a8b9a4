# Neutron with OVN. Up to 2025.1 one process does everything; from 2025.2 on the API runs
# under uWSGI, with workers beside it. Networks are in its database and OVN's: a restart costs
# the requests that are under way, and no server notices.
definition "neutron" {
  description = "Networks of servers"

  input "physical_networks" {
    type        = map(object({ vlans = optional(list(string), []) }))
    default     = { physnet1 = {} }
    nullable    = false
    description = "Networks that nodes have bridges to, by name, and ranges of their VLANs: { physnet1 = { vlans = [\"100:199\"] } }."
  }

  input "distributed_floating_ips" {
    type        = bool
    default     = false
    nullable    = false
    description = "Whether the node of a server answers for its floating IP, with its own bridge to the physical network; by default the router's gateway does."
  }

  input "plugins" {
    type        = list(string)
    default     = ["ovn-router"]
    nullable    = false
    description = "Names of Neutron's service plug-ins."
  }

  input "sriov" {
    type        = bool
    default     = null
    description = "Whether ports of type direct are virtual functions that service.neutron-sriov sets up; by default where it is declared."
  }

  locals {
    sriov = input.sriov != null ? input.sriov : contains(cloud.services, "neutron-sriov")
    split = cloud.release >= 2025.2
    # Connections to OVN are in the environment: see connect.sh.
    start = ["sh", "-ec", file("${path.module}/ovn/connect.sh"), "sh"]
    ovn   = { NB = service.ovn.nb_members, SB = service.ovn.ports.relay.address }
    files = ["--config-file", "/etc/neutron/neutron.conf", "--config-file", "/etc/neutron/plugins/ml2/ml2_conf.ini"]
    auth  = merge(user.neutron.auth, { endpoint_type = "internal" })
    vlans = flatten([for network, n in input.physical_networks : [for range in n.vlans : "${network}:${range}"]])
  }

  port "api" {
    number    = 9696
    expose    = true
    node_port = 30696
  }

  database "neutron" {}
  queue "neutron" {}

  user "neutron" {
    roles = ["admin", "service"]
  }

  endpoint "network" {
    port = "api"
  }

  config "neutron.conf" {
    path        = "/etc/neutron/neutron.conf"
    secret_path = "/etc/neutron/neutron.conf.d/secrets.conf"
    values = {
      DEFAULT = {
        debug           = false
        use_stderr      = true
        transport_url   = queue.neutron.url
        state_path      = "/var/lib/neutron"
        core_plugin     = "ml2"
        service_plugins = input.plugins
        bind_port       = port.api
        api_workers     = 2
        rpc_workers     = 1
      }
      database              = merge(local.database, { connection = database.neutron.url })
      keystone_authtoken    = merge(user.neutron.auth, user.neutron.authtoken, { service_type = "network", service_token_roles_required = true })
      nova                  = local.auth
      placement             = local.auth
      oslo_concurrency      = { lock_path = "/var/lib/neutron/tmp" }
      oslo_messaging_rabbit = queue.neutron.settings
      oslo_middleware       = local.oslo_middleware
    }
  }

  # The name of kolla-ansible's container is that of the overrides for it.
  config "neutron-server.conf" {
    from   = "neutron.conf"
    values = { oslo_messaging_rabbit = local.split ? local.rabbit_uwsgi : {} }
  }

  config "ml2_conf.ini" {
    path = "/etc/neutron/plugins/ml2/ml2_conf.ini"
    values = {
      ml2 = {
        type_drivers      = ["flat", "vlan", "geneve"]
        mechanism_drivers = concat(local.sriov ? ["sriovnicswitch"] : [], ["ovn"])
        extension_drivers = "port_security"

        (cloud.release >= 2026.1 ? "project_network_types" : "tenant_network_types") = "geneve"
      }
      ml2_type_flat   = { flat_networks = keys(input.physical_networks) }
      ml2_type_vlan   = { network_vlan_ranges = local.vlans }
      ml2_type_geneve = { vni_ranges = "1001:65535", max_header_size = 38 }
      securitygroup   = { enable_security_group = true }
      ovn = {
        ovn_metadata_enabled           = true
        enable_distributed_floating_ip = input.distributed_floating_ips
      }
    }
  }

  config "neutron-api-uwsgi.ini" {
    enabled = local.split
    path    = "/etc/neutron/neutron-api-uwsgi.ini"
    values  = { uwsgi = merge(local.uwsgi, { http-socket = "0.0.0.0:${port.api}", module = "neutron.wsgi.api:application", start-time = "%t" }) }
  }

  config "policy.yaml" {
    format   = "yaml"
    path     = "/etc/neutron/policy.yaml"
    optional = true
  }

  # What the jobs read, so that they do not run again for the rest.
  config "neutron-db.conf" {
    from   = "neutron.conf"
    only   = ["database"]
    values = { DEFAULT = { use_stderr = true, core_plugin = "ml2" }, database = local.database_unlimited }
  }

  job "db-expand" {
    image   = "neutron-server"
    user    = 42435
    command = ["sh", "-ec", file("${path.module}/neutron/expand.sh")]
    config  = ["neutron-db.conf"]
  }

  job "db-contract" {
    when    = "after"
    image   = "neutron-server"
    user    = 42435
    command = ["neutron-db-manage", "--subproject", "neutron", "upgrade", "--contract"]
    config  = ["neutron-db.conf"]
  }

  workload "api" {
    kind         = "Deployment"
    image        = "neutron-server"
    user         = 42435
    command      = concat(local.start, local.split ? ["uwsgi", "--ini", "/etc/neutron/neutron-api-uwsgi.ini"] : concat(["neutron-server"], local.files))
    env          = merge(local.ovn, { OS_NEUTRON_CONFIG_FILES = "/etc/neutron/neutron.conf;/etc/neutron/plugins/ml2/ml2_conf.ini" })
    ports        = ["api"]
    config       = ["neutron-server.conf", "ml2_conf.ini", "neutron-api-uwsgi.ini", "policy.yaml"]
    writable     = ["/var/lib/neutron"]
    grace_period = 60

    resources {
      requests = { cpu = "200m", memory = local.split ? "640Mi" : "512Mi" }
      limits   = { cpu = "2", memory = "2Gi" }
    }

    startup {
      period  = 2
      retries = 90
    }

    ready { http = "/healthcheck" }

    live {
      exec    = concat(local.alive, ["http://127.0.0.1:${port.api}/"])
      period  = 60
      timeout = 60
      retries = 8
    }
  }

  workload "rpc-server" {
    enabled      = local.split
    kind         = "StatefulSet"
    image        = "neutron-server"
    user         = 42435
    command      = concat(local.start, ["neutron-rpc-server"], local.files)
    env          = local.ovn
    config       = ["neutron.conf", "ml2_conf.ini", "policy.yaml"]
    writable     = ["/var/lib/neutron"]
    grace_period = 60

    resources {
      requests = { cpu = "100m", memory = "256Mi" }
      limits   = { cpu = "1", memory = "1Gi" }
    }

    startup { retries = 360 }
    ready {
      exec   = ["healthcheck_port", "neutron-rpc-server", tostring(queue.neutron.port)]
      period = 30
    }
  }

  workload "periodic-worker" {
    enabled      = local.split
    kind         = "StatefulSet"
    image        = "neutron-server"
    user         = 42435
    command      = concat(local.start, ["neutron-periodic-workers"], local.files)
    env          = local.ovn
    config       = ["neutron.conf", "ml2_conf.ini", "policy.yaml"]
    writable     = ["/var/lib/neutron"]
    grace_period = 60

    resources {
      requests = { cpu = "50m", memory = "256Mi" }
      limits   = { cpu = "1", memory = "1Gi" }
    }

    startup { retries = 360 }
    ready {
      exec   = ["healthcheck_port", "neutron-periodic-workers", tostring(database.neutron.port)]
      period = 30
    }
  }

  # Puts right what OVN's database lacks, one of them at a time.
  workload "ovn-maintenance-worker" {
    enabled      = local.split
    kind         = "StatefulSet"
    image        = "neutron-server"
    user         = 42435
    command      = concat(local.start, ["neutron-ovn-maintenance-worker"], local.files)
    env          = local.ovn
    config       = ["neutron.conf", "ml2_conf.ini", "policy.yaml"]
    writable     = ["/var/lib/neutron"]
    grace_period = 60

    resources {
      requests = { cpu = "50m", memory = "256Mi" }
      limits   = { cpu = "1", memory = "1Gi" }
    }

    startup { retries = 360 }
    ready {
      exec   = ["healthcheck_port", "neutron-ovn-maintenance-worker", tostring(service.ovn.ports.nb.number)]
      period = 30
    }
  }

  # Agents with a queue read these.
  output "transport_url" { value = queue.neutron.url }
  output "queue_settings" { value = queue.neutron.settings }
  output "queue_port" { value = queue.neutron.port }
}
