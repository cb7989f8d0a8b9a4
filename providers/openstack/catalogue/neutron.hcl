# Neutron with OVN. Up to 2025.1 one process does everything; from 2025.2 on the API runs
# under uWSGI, with workers beside it. Networks are in its database and OVN's: a restart costs
# the requests that are under way, and no server notices.
definition "neutron" {
  from        = "api-with-daemons"
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
    uid   = 42435
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
    node_port = 30696
  }

  user "neutron" {
    roles = ["admin", "service"]
  }

  endpoint "network" {
    port = "api"
  }

  config "neutron.conf" {
    values = {
      DEFAULT = {
        debug           = false
        state_path      = "/var/lib/neutron"
        core_plugin     = "ml2"
        service_plugins = input.plugins
        bind_port       = port.api
        api_workers     = 2
        rpc_workers     = 1
      }
      keystone_authtoken = {
        service_type                 = "network"
        service_token_roles_required = true
      }
      nova      = local.auth
      placement = local.auth
    }
  }

  # kolla-ansible's container has this name.
  config "neutron-api.conf" {
    enabled = false
  }

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
    values  = { uwsgi = { start-time = "%t" } }
  }

  config "neutron-db.conf" {
    values = { DEFAULT = { core_plugin = "ml2" } }
  }

  job "db-expand" {
    from    = "database"
    image   = "neutron-server"
    command = ["sh", "-ec", file("${path.module}/neutron/expand.sh")]
  }

  job "db-contract" {
    from    = "database"
    when    = "after"
    image   = "neutron-server"
    command = ["neutron-db-manage", "--subproject", "neutron", "upgrade", "--contract"]
  }

  workload "api" {
    image   = "neutron-server"
    command = concat(local.start, local.split ? ["uwsgi", "--ini", "/etc/neutron/neutron-api-uwsgi.ini"] : concat(["neutron-server"], local.files))
    env     = merge(local.ovn, { OS_NEUTRON_CONFIG_FILES = "/etc/neutron/neutron.conf;/etc/neutron/plugins/ml2/ml2_conf.ini" })
    config  = ["neutron-server.conf", "ml2_conf.ini", "neutron-api-uwsgi.ini", "policy.yaml"]

    resources {
      requests = { cpu = "200m", memory = local.split ? "640Mi" : "512Mi" }
      limits   = { cpu = "2", memory = "2Gi" }
    }

    startup {
      retries = 90
    }
  }

  workload "worker" {
    from    = "daemon"
    enabled = false
    kind    = "StatefulSet"
    image   = "neutron-server"
    command = concat(local.start, ["neutron-${workload.name}"], local.files)
    env     = local.ovn
    config  = ["neutron.conf", "ml2_conf.ini", "policy.yaml"]

    resources {
      requests = { cpu = "50m", memory = "256Mi" }
      limits   = { cpu = "1", memory = "1Gi" }
    }
  }

  workload "rpc-server" {
    from    = "worker"
    enabled = local.split

    resources {
      requests = { cpu = "100m" }
    }
  }

  workload "periodic-worker" {
    from    = "worker"
    enabled = local.split
    command = concat(local.start, ["neutron-periodic-workers"], local.files)

    ready {
      exec = concat(local.connected, ["neutron-periodic-workers", tostring(database.neutron.port)])
    }
  }

  # Puts right what OVN's database lacks, one of them at a time.
  workload "ovn-maintenance-worker" {
    from    = "worker"
    enabled = local.split

    ready {
      exec = concat(local.connected, ["neutron-ovn-maintenance-worker", tostring(service.ovn.ports.nb.number)])
    }
  }

  # Agents with a queue read these.
  output "transport_url" { value = queue.neutron.url }
  output "queue_settings" { value = queue.neutron.settings }
  output "queue_port" { value = queue.neutron.port }
}
