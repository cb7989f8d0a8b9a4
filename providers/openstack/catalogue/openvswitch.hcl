# Open vSwitch on every node that carries traffic of servers. While a pod is away the flows in
# the kernel stay, and with the userspace datapath traffic stands still. So that nothing
# happens in passing, pods are replaced only by `kolla rollout`.
definition "openvswitch" {
  from        = "exported"
  description = "Open vSwitch, one on each node that carries traffic of servers"
  stage       = "nodes"

  input "datapath_type" {
    type        = string
    default     = "system"
    nullable    = false
    description = "system: the kernel's. netdev: in user space, for kernels without the module openvswitch."

    validation {
      condition     = contains(["system", "netdev"], input.datapath_type)
      error_message = "It is \"system\" or \"netdev\"."
    }
  }

  input "settings" {
    type        = map(string)
    default     = {}
    nullable    = false
    description = "Keys of other_config, such as { hw-offload = \"true\" }."
  }

  port "metrics" {
    number = 9475
  }

  locals {
    # Checksums of packets that stay on one machine are never computed. The userspace datapath
    # has to know that, or it passes pings and nothing else.
    settings = merge(input.datapath_type == "netdev" ? { userspace-tso-enable = "true" } : {}, input.settings)
  }

  workload "ovs" {
    kind         = "DaemonSet"
    update       = "on-delete"
    priority     = "system-node-critical"
    loss         = "servers of the node lose their network"
    host_network = true
    image        = "openvswitch-vswitchd"
    user         = 0
    command = concat(
      input.datapath_type == "netdev" ? ["sh", "-ec", file("${path.module}/openvswitch/netdev.sh"), "sh"] : [],
      ["sh", "-c", local.many_files, "sh", "ovs-vswitchd", "unix:/run/openvswitch/db.sock", "--pidfile=/run/openvswitch/ovs-vswitchd.pid", "-vconsole:info"],
      cloud.logging == "sidecar" ? ["--log-file=/var/log/kolla/ovs.out.log"] : [],
    )
    logs         = "files"
    capabilities = ["NET_ADMIN", "NET_RAW"]
    reason       = "It makes bridges and ports in the node's network, and moves packets between them."

    volume "run" { host = "/run/openvswitch" }

    volume "tun" {
      host = "/dev/net/tun"
      type = "device"
    }

    sidecar "db" {
      image   = "openvswitch-db-server"
      command = ["sh", "-ec", file("${path.module}/openvswitch/db.sh")]
      env     = { DATA = "/var/lib/openvswitch" }
      reason  = "The node's bridges and ports outlive the pod."

      volume "data" { host = "/var/lib/openvswitch" }

      startup {
        exec    = ["ovsdb-client", "list-dbs", "unix:/run/openvswitch/db.sock"]
        period  = 1
        retries = 60
      }
    }

    # vswitchd reads some of them only when it starts.
    init "settings" {
      image   = "openvswitch-db-server"
      command = ["sh", "-ec", file("${path.module}/openvswitch/settings.sh")]
      env     = { SETTINGS = join("\n", [for key, value in local.settings : "${key}=${value}"]) }
    }

    carries {
      what    = "servers with a port on the node"
      command = ["sh", "-ec", file("${path.module}/openvswitch/servers.sh")]
    }

    leave {
      what    = "bridges and ports of Open vSwitch"
      command = ["sh", "-ec", file("${path.module}/openvswitch/leave.sh")]
      timeout = 300
    }

    resources {
      requests = { cpu = "100m", memory = "128Mi" }
      limits   = { memory = "2Gi" }
    }

    startup { retries = 360 }
    ready {
      exec   = ["sh", "-c", "ovs-appctl -t /run/openvswitch/ovs-vswitchd.$(cat /run/openvswitch/ovs-vswitchd.pid).ctl version"]
      period = 30
    }
  }

  # Beside the pods with the switch, which nothing replaces in passing.
  workload "exporter" {
    kind    = "DaemonSet"
    image   = "openvswitch-db-server"
    user    = 0
    command = ["python3", "-c", file("${path.module}/openvswitch/metrics.py"), tostring(port.metrics), "Open_vSwitch=unix:/run/openvswitch/db.sock"]
    reason  = "It reads counters of the node's Open vSwitch, through its socket."

    volume "run" {
      host      = "/run/openvswitch"
      read_only = true
    }
  }

  output "datapath_type" { value = input.datapath_type }
  output "connection" { value = "unix:/run/openvswitch/db.sock" }
}
