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

    validation {
      condition     = alltrue([for network in keys(input.physical_networks) : can(regex("^[A-Za-z0-9][A-Za-z0-9._-]*$", network))])
      error_message = "Physical networks have names of letters, digits, dots, dashes and underscores."
    }
    validation {
      condition = alltrue(flatten([for n in input.physical_networks : [
        for range in n.vlans : can(regex("^[0-9]+:[0-9]+$", range)) && try(
          1 <= tonumber(split(":", range)[0]) && tonumber(split(":", range)[0]) <= tonumber(split(":", range)[1]) && tonumber(split(":", range)[1]) <= 4094,
          false,
        )
      ]]))
      error_message = "A range of VLANs is FIRST:LAST, from 1 to 4094, such as \"100:199\". A single VLAN is \"100:100\"."
    }
  }

  input "dns_servers" {
    type        = list(string)
    default     = null
    description = "DNS servers for the servers in subnets that name none: [\"192.0.2.53\"]. By default, and with [], these servers get none."

    validation {
      condition = alltrue([
        for address in coalesce(input.dns_servers, []) : can(cidrhost("${address}/0", 0)) && !contains(["0.0.0.0", "::"], address)
      ])
      error_message = "DNS servers are IP addresses, such as \"192.0.2.53\" and \"2001:db8::53\". Write [] for none."
    }
  }

  input "dns_domain" {
    type        = string
    default     = null
    description = "Domain of servers' names, \"cloud.example.org\": OVN then resolves NAME and NAME.DOMAIN of servers in the same network."

    validation {
      condition = input.dns_domain == null || try(
        can(regex("^[a-z0-9]([a-z0-9-]*[a-z0-9])?([.][a-z0-9]([a-z0-9-]*[a-z0-9])?)*[.]?$", input.dns_domain)) &&
        trimsuffix(input.dns_domain, ".") != "openstacklocal",
        false,
      )
      error_message = "It is a domain such as \"cloud.example.org\". Neutron resolves no names in \"openstacklocal\"."
    }
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
    description = "Names of Neutron's service plug-ins. The inputs below add more. ML2 loads the extension drivers that they need."

    validation {
      condition     = !contains(input.plugins, "router")
      error_message = "With OVN, the plug-in for routers is \"ovn-router\"."
    }
    validation {
      condition     = alltrue([for name in input.plugins : contains(local.known, name) || didyoumean(name, local.known) == ""])
      error_message = "Neutron has no such plug-in.${join("", [for name in input.plugins : contains(local.known, name) ? "" : didyoumean(name, local.known)])}"
    }
  }

  input "qos" {
    type        = bool
    default     = false
    nullable    = false
    description = "Whether ports, networks and floating IPs can have a QoS policy."
  }

  input "trunk" {
    type        = bool
    default     = false
    nullable    = false
    description = "Whether a port of a server can be a trunk, which carries several networks as VLANs."
  }

  input "port_forwarding" {
    type        = bool
    default     = false
    nullable    = false
    description = "Whether ports of a floating IP can be forwarded to different servers."
  }

  input "segments" {
    type        = bool
    default     = false
    nullable    = false
    description = "Whether a network can consist of segments with subnets of their own (routed provider networks)."
  }

  input "packet_logging" {
    type        = bool
    default     = false
    nullable    = false
    description = "Whether packets that security groups accept or drop can be logged; the log is that of ovn-controller on the node."
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

    plugins = distinct(concat(
      input.plugins,
      input.qos ? ["qos"] : [],
      input.segments ? ["segments"] : [],
      input.trunk ? ["trunk"] : [],
      input.port_forwarding ? ["port_forwarding"] : [],
      input.packet_logging ? ["log"] : [],
    ))
    known = [
      "auto_allocate", "conntrack_helper", "evpn", "firewall_v2", "flavors", "flow_classifier", "local_ip", "log", "metering",
      "ndp_proxy", "network_ip_availability", "network_segment_range", "ovn-bgp", "ovn-router", "ovn-vpnaas", "placement",
      "port_forwarding", "pvlan", "qos", "revisions", "segments", "sfc", "taas", "tag", "timestamp", "trunk",
    ]

    # ML2 does not start if it lacks the driver of a plug-in.
    extensions = concat(
      contains(local.plugins, "qos") ? ["qos"] : [],
      ["port_security"],
      input.dns_domain != null ? ["subnet_dns_publish_fixed_ip"] : [],
    )

    # For a family without servers, Neutron would hand out those in the resolv.conf of its pod. The
    # address of no host stands for none.
    resolvers = coalesce(input.dns_servers, [])
    dns_servers = concat(
      length([for s in local.resolvers : s if !strcontains(s, ":")]) == 0 ? ["0.0.0.0"] : [],
      length([for s in local.resolvers : s if strcontains(s, ":")]) == 0 ? ["::"] : [],
      local.resolvers,
    )

    nodes    = concat(cloud.outputs["ovn-controller"], cloud.outputs["neutron-sriov"])
    mapped   = flatten(local.nodes[*].physical_networks)
    unmapped = [for network in keys(input.physical_networks) : network if !contains(local.mapped, network)]
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
        service_plugins = local.plugins
        dns_domain      = input.dns_domain == null ? null : trimsuffix(input.dns_domain, ".")
        bind_port       = cloud.release < 2026.2 ? port.api : null # uWSGI has the port
        api_workers     = cloud.release < 2026.2 ? 2 : null
        rpc_workers     = 1
      }
      keystone_authtoken = { service_type = "network" }
      nova               = local.auth
      placement          = local.auth
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
        extension_drivers = local.extensions

        (cloud.release >= 2026.1 ? "project_network_types" : "tenant_network_types") = "geneve"
      }
      ml2_type_flat   = { flat_networks = keys(input.physical_networks) }
      ml2_type_vlan   = { network_vlan_ranges = local.vlans }
      ml2_type_geneve = { vni_ranges = "1001:65535", max_header_size = 38 }
      securitygroup   = { enable_security_group = true }
      ovn = {
        ovn_metadata_enabled = true
        # A database whose node lost its power closes no connection. Neutron finds out after two such
        # intervals, in milliseconds, which with the default are two minutes.
        ovsdb_probe_interval           = 20000
        enable_distributed_floating_ip = input.distributed_floating_ips
        dns_servers                    = local.dns_servers
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

  job "upgrade-check" {
    from    = "check"
    image   = "neutron-server"
    command = concat(local.start, local.check, ["neutron-status"], local.files)
    env     = local.ovn
    config  = ["neutron-server.conf", "ml2_conf.ini"]
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

  # Neutron of 2025.1 left the MTU of a network's port for metadata empty. Agents of 2026.2 fail at that, and
  # servers of the network are not told who they are. The job runs from 2026.1 on, before these agents come.
  job "metadata-ports" {
    enabled = cloud.release >= 2026.1
    when    = "after"
    runs    = "upgrade"
    image   = "ovn-nb-db-server"
    user    = 42476
    command = ["sh", "-ec", file("${path.module}/neutron/metadata-ports.sh")]
    env     = { NB = service.ovn.nb }
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

  # Services with bridges or cards for these networks compare theirs.
  output "physical_networks" { value = keys(input.physical_networks) }

  check "dns-servers" {
    assert {
      condition = input.dns_servers != null
      error_message = join(" ", [
        "Servers of the cloud get no DNS server, unless their subnet names one.",
        "Name DNS servers that they can reach: dns_servers = [\"192.0.2.53\"]. If they need none, write dns_servers = [].",
      ])
    }
  }

  check "physical-networks" {
    assert {
      condition = length(input.physical_networks) == 0 || length(local.nodes) == 0 || length(local.unmapped) == 0
      error_message = join(" ", [
        "No node has a bridge or a card for ${join(", ", local.unmapped)}, so networks on it carry no traffic.",
        "Add it to bridges of service \"ovn-controller\", or remove it from physical_networks.",
      ])
    }
  }
}
