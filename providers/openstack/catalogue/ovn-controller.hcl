# OVN's agent on a node: one service for each group of nodes whose interfaces are alike. It
# makes flows of what OVN's database says. These stay while a pod is away, and do not follow
# changes. So that nothing happens in passing, pods are replaced only by `kolla rollout`.
# While another version of northd runs than here, new servers on the node get no network, as
# flows stay as they are: `kolla rollout` belongs right after an apply with another OVN.
definition "ovn-controller" {
  description = "OVN's agent, one on each node that carries traffic of servers"
  stage       = "nodes"

  input "bridges" {
    type = map(object({
      bridge    = string
      interface = optional(string)
      network   = optional(string)
    }))
    default     = {}
    nullable    = false
    description = "Bridges by physical network: { physnet1 = { bridge = \"br-ex\", interface = \"bond1\" } }. Or network = \"203.0.113.0/24\", of its address."

    validation {
      condition = alltrue(flatten([for b in input.bridges : [
        for name in compact([b.bridge, b.interface]) : can(regex("^[A-Za-z0-9][A-Za-z0-9._-]{0,14}$", name))
      ]]))
      error_message = "Bridges and interfaces have names of at most 15 letters, digits, dots, dashes and underscores."
    }
    validation {
      condition     = alltrue([for b in input.bridges : b.network == null || b.interface == null && can(cidrhost(b.network, 0))])
      error_message = "A bridge has an interface, or a network such as \"203.0.113.0/24\", in which the interface has an address."
    }
  }

  input "gateway" {
    type        = bool
    default     = false
    nullable    = false
    description = "Whether routers to physical networks run on these nodes."
  }

  input "tunnel_interface" {
    type        = string
    default     = null
    description = "Interface with the address for tunnels, \"eth1\", if not tunnel_network says it."

    validation {
      condition     = input.tunnel_interface == null || can(regex("^[A-Za-z0-9][A-Za-z0-9._-]{0,14}$", input.tunnel_interface))
      error_message = "Interfaces have names of at most 15 letters, digits, dots, dashes and underscores."
    }
    validation {
      condition     = input.tunnel_interface == null || input.tunnel_network == null
      error_message = "tunnel_network says it already."
    }
  }

  input "tunnel_network" {
    type        = string
    default     = null
    description = "Network of tunnels, \"198.51.100.0/24\"; by default that of the node's address. The userspace datapath needs its interface for itself."

    validation {
      condition     = input.tunnel_network == null || can(cidrhost(input.tunnel_network, 0))
      error_message = "It is a network, such as \"198.51.100.0/24\"."
    }
  }

  locals {
    known_networks   = flatten(cloud.outputs["neutron"][*].physical_networks)
    unknown_networks = [for network in keys(input.bridges) : network if !contains(local.known_networks, network)]
  }

  # Old pods change no network once northd has a new version.
  workload "controller" {
    kind            = "DaemonSet"
    update          = "on-delete"
    rollout_first   = true
    max_unavailable = "25%"
    priority        = "system-node-critical"
    loss            = "the network of the node's servers stays as it is, and new ones get none"
    host_network    = true
    image           = "ovn-controller"
    user            = 0
    command = concat([
      "ovn-controller", "unix:/run/openvswitch/db.sock",
      "--pidfile=/run/ovn/ovn-controller.pid", "-vconsole:info", # OVN 23.03 has no --unixctl here
    ], cloud.logging == "sidecar" ? ["--log-file=/var/log/kolla/controller.out.log"] : [])
    logs   = "files"
    reason = "It talks to the Open vSwitch of the node, through its socket."

    volume "openvswitch" { host = "/run/openvswitch" }
    volume "ovn" { host = "/run/ovn" }

    init "settings" {
      capabilities = ["NET_ADMIN"]
      reason       = "It brings interfaces of the node up, and moves the address of the tunnels to a bridge."
      command      = ["sh", "-ec", file("${path.module}/ovn/settings.sh")]
      env = {
        NODE     = node.name
        NODE_IP  = node.ip
        REMOTE   = service.ovn.relay
        DATAPATH = service.openvswitch.datapath_type
        GATEWAY  = input.gateway ? "enable-chassis-as-gw" : ""
        TUNNEL   = join("", compact([input.tunnel_network, input.tunnel_interface]))
        MAPPINGS = join(",", [for network, b in input.bridges : "${network}:${b.bridge}"])
        BRIDGES  = join(" ", [for network, b in input.bridges : join(":", compact([b.bridge, b.interface, b.network]))])
      }
    }

    carries {
      what    = "servers with a port on the node"
      command = ["sh", "-ec", file("${path.module}/openvswitch/servers.sh")]
    }

    leave {
      what    = "the node's chassis in OVN's database"
      command = ["sh", "-ec", file("${path.module}/ovn/leave.sh")]
      timeout = 120
    }

    resources {
      requests = { cpu = "50m", memory = "64Mi" }
      limits   = { memory = "1Gi" }
    }

    startup { retries = 360 }
    ready {
      exec   = ["sh", "-c", "ovn-appctl -t ovn-controller connection-status | grep -qx connected"]
      period = 30
    }
  }

  output "physical_networks" { value = keys(input.bridges) }

  check "physical-networks" {
    assert {
      condition = length(input.bridges) == 0 || length(cloud.outputs["neutron"]) == 0 || length(local.unknown_networks) == 0
      error_message = join(" ", [
        "Nobody can create a network on the bridge, because Neutron does not have ${join(", ", local.unknown_networks)}:",
        "add it to physical_networks of service \"neutron\".",
      ])
    }
  }
}
