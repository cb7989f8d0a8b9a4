# Sets up virtual functions of network cards as ports of servers: their addresses, VLANs and
# links. Servers that run keep their ports while a pod is away.
definition "neutron-sriov" {
  description = "Ports on virtual functions of network cards, one agent on each node"
  stage       = "nodes"
  project     = "neutron"

  input "devices" {
    type        = map(list(string))
    nullable    = false
    description = "Network cards of the nodes, by physical network: { physnet2 = [\"ens2f0\", \"ens3f0\"] }."

    validation {
      condition     = length(input.devices) > 0 && alltrue([for cards in values(input.devices) : length(cards) > 0])
      error_message = "Name at least one network card for each physical network."
    }
  }

  locals {
    helper = { helper_command = "privsep-helper --config-file /etc/neutron/neutron.conf --config-dir /etc/neutron/neutron.conf.d" }

    known_networks   = flatten(cloud.outputs["neutron"][*].physical_networks)
    unknown_networks = [for network in keys(input.devices) : network if !contains(local.known_networks, network)]
  }

  config "neutron.conf" {
    path        = "/etc/neutron/neutron.conf"
    secret_path = "/etc/neutron/neutron.conf.d/secrets.conf"
    values = {
      DEFAULT = {
        debug         = false
        use_stderr    = true
        state_path    = "/var/lib/neutron"
        transport_url = service.neutron.transport_url
      }
      oslo_concurrency      = { lock_path = "/var/lib/neutron/tmp" }
      oslo_messaging_rabbit = service.neutron.queue_settings
      # The pod is root, and has the powers that the helpers need: no sudo.
      privsep           = local.helper
      privsep_link      = local.helper
      privsep_namespace = local.helper
    }
  }

  config "sriov_agent.ini" {
    path = "/etc/neutron/plugins/ml2/sriov_agent.ini"
    values = {
      sriov_nic     = { physical_device_mappings = flatten([for network, cards in input.devices : [for card in cards : "${network}:${card}"]]) }
      securitygroup = { firewall_driver = "noop" } # no packet of such a port passes the node
    }
  }

  workload "agent" {
    kind         = "DaemonSet"
    priority     = "system-node-critical"
    host_network = true
    image        = "neutron-sriov-agent"
    user         = 0
    capabilities = ["DAC_OVERRIDE", "DAC_READ_SEARCH", "NET_ADMIN", "SYS_ADMIN", "SYS_PTRACE"]
    reason       = "It sets addresses, VLANs and links of the virtual functions of the node's network cards."
    command      = ["neutron-sriov-nic-agent", "--config-file", "/etc/neutron/neutron.conf", "--config-file", "/etc/neutron/plugins/ml2/sriov_agent.ini"]
    config       = ["neutron.conf", "sriov_agent.ini"]
    writable     = ["/var/lib/neutron"]
    env          = { OS_DEFAULT__HOST = node.name } # as nova-compute names the node
    grace_period = 60

    resources {
      requests = { cpu = "50m", memory = "192Mi" }
      limits   = { memory = "512Mi" }
    }

    startup { retries = 360 }
    ready {
      exec    = concat(local.connected, ["neutron-sriov-nic-agent", tostring(service.neutron.queue_port)])
      period  = 30
      timeout = 10
    }
  }

  output "physical_networks" { value = keys(input.devices) }

  check "physical-networks" {
    assert {
      condition = length(input.devices) == 0 || length(cloud.outputs["neutron"]) == 0 || length(local.unknown_networks) == 0
      error_message = join(" ", [
        "Nobody can create a network on the cards, because Neutron does not have ${join(", ", local.unknown_networks)}:",
        "add it to physical_networks of service \"neutron\".",
      ])
    }
  }
}
