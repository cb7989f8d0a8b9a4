# Metadata for servers, on their hypervisor: who they are, and what they run at their first
# start. Only servers that start, or ask again, notice that a pod is away.
definition "neutron-ovn-metadata" {
  description = "Metadata for servers, one on each hypervisor"
  stage       = "nodes"
  project     = "neutron"

  locals {
    helper = {
      helper_command = "privsep-helper --config-file /etc/neutron/neutron_ovn_metadata_agent.ini --config-dir /etc/neutron/neutron_ovn_metadata_agent.ini.d"
    }
  }

  config "neutron_ovn_metadata_agent.ini" {
    path        = "/etc/neutron/neutron_ovn_metadata_agent.ini"
    secret_path = "/etc/neutron/neutron_ovn_metadata_agent.ini.d/secrets.conf"
    values = {
      DEFAULT = {
        debug                        = false
        use_stderr                   = true
        state_path                   = "/var/lib/neutron"
        nova_metadata_host           = service.nova.ports.metadata.host
        nova_metadata_port           = service.nova.ports.metadata.number
        metadata_proxy_shared_secret = service.nova.metadata_secret
        metadata_workers             = 1
      }
      ovs = { ovsdb_connection = service.openvswitch.connection }
      # The pod is root, and has the powers that the helpers need: no sudo.
      privsep           = local.helper
      privsep_link      = local.helper
      privsep_namespace = local.helper
      privsep_ovs_vsctl = local.helper
    }
  }

  workload "agent" {
    kind         = "DaemonSet"
    update       = "on-delete"
    priority     = "system-node-critical"
    loss         = "servers that start on the node are not told who they are"
    host_network = true
    image        = "neutron-metadata-agent"
    user         = 0
    privileged   = true
    reason       = "It makes network namespaces of the node, which outlive the pod."
    writable     = ["/var/lib/neutron"]
    config       = ["neutron_ovn_metadata_agent.ini"]
    grace_period = 60
    env          = { SB = service.ovn.ports.relay.address } # see connect.sh
    # The agent leaves processes behind, so that it needs dumb-init in an image of any name.
    command = [
      "dumb-init", "--single-child", "--", "sh", "-ec", file("${path.module}/ovn/connect.sh"), "sh", "neutron-ovn-metadata-agent",
      "--config-file", "/etc/neutron/neutron_ovn_metadata_agent.ini", "--config-dir", "/etc/neutron/neutron_ovn_metadata_agent.ini.d",
    ]

    volume "openvswitch" { host = "/run/openvswitch" }

    volume "netns" {
      host        = "/run/netns"
      propagation = "both"
    }

    # Before ovn-controller has said who the node is, the agent fails and does not end.
    init "chassis" {
      image   = "ovn-controller"
      command = ["sh", "-c", "until ovs-vsctl --timeout=10 get Open_vSwitch . external-ids:system-id; do sleep 1; done"]
    }

    leave {
      what    = "network namespaces for metadata"
      command = ["python3", "-c", file("${path.module}/ovn/metadata-leave.py"), ""]
      timeout = 120
    }

    resources {
      requests = { cpu = "50m", memory = "384Mi" }
      limits   = { memory = "1Gi" }
    }

    startup { retries = 360 }
    ready {
      exec    = concat(local.connected, ["neutron-ovn-metadata-agent", tostring(service.ovn.ports.relay.number)])
      period  = 30
      timeout = 10
    }
  }
}
