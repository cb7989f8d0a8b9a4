# OVN's databases, and northd, which makes flows of what Neutron says. Servers keep their
# network while these are away; only changes wait. One member of each database, or three
# in a cluster, which outlives the loss of one; of two, none works while one is away.
definition "ovn" {
  description = "OVN: the databases of the virtual network"

  input "cluster_domain" {
    type        = string
    default     = "cluster.local"
    nullable    = false
    description = "DNS domain of the Kubernetes cluster. Members of the databases know each other by names in it, for good."
  }

  port "nb" {
    number = 6641
  }

  port "sb" {
    number = 6642
  }

  port "relay" {
    number = 16642
  }

  port "nb-raft" {
    number = 6643
  }

  port "sb-raft" {
    number = 6644
  }

  port "metrics" {
    enabled = cloud.metrics
    number  = 9476
  }

  locals {
    # Servers of the databases resolve names without the search list of the pod.
    members = { for db in ["nb", "sb"] : db => [for member in self.members[db] : "${member}.svc.${input.cluster_domain}"] }
    schemas = { nb = "OVN_Northbound", sb = "OVN_Southbound" }
    clients = { nb = [port.nb], sb = [port.sb, port.relay] } # the ports at which they read the databases
    nb_url  = join(",", [for member in local.members.nb : "tcp:${member}:${port.nb}"])
    sb_url  = join(",", [for member in local.members.sb : "tcp:${member}:${port.sb}"])
    leave   = { namespace = self.namespace, service = self.name } # of leave.txt.tmpl
    spread  = self.replicas > 1 ? "required" : "preferred"        # a node that is lost takes one member
  }

  # Open vSwitch resolves a name in the background, and looks at the answer when it is the member's
  # turn again. After a long outage that is 24 seconds later. Before 3.3.7, 3.5.3 and 3.6.1
  # (dns-resolve: "Do not treat never accessed responses as expired") an answer of CoreDNS, good
  # for 5 seconds by default, has expired by then, and a client would never connect again.
  config "unbound.conf" {
    format  = "raw"
    path    = "/etc/ovn/unbound.conf"
    content = "server:\n  cache-min-ttl: 30\n"
  }

  # The databases start from this one.
  workload "database" {
    enabled = false
    kind    = "StatefulSet"
    logs    = "console"
    spread  = local.spread
    scale_down = templatefile("${path.module}/ovn/leave.txt.tmpl", merge(local.leave, {
      db       = workload.name
      database = local.schemas[workload.name]
    }))
    image   = "ovn-${workload.name}-db-server"
    user    = 42476
    command = ["sh", "-ec", file("${path.module}/ovn/db.sh"), "db", workload.name, local.schemas[workload.name]]
    env = {
      MEMBERS   = join(" ", local.members[workload.name])
      DATA      = "/var/lib/openvswitch/ovn-${workload.name}"
      DB_PORT   = port[workload.name]
      RAFT_PORT = port["${workload.name}-raft"]
      PORTS     = join(" ", local.clients[workload.name]) # whose clients may be silent for long
    }
    ports        = [workload.name, "${workload.name}-raft"]
    writable     = ["/run/ovn"]
    grace_period = 60

    claim "data" {
      path = "/var/lib/openvswitch/ovn-${workload.name}"
      size = "5Gi"
    }

    resources {
      requests = { cpu = "50m", memory = "128Mi" }
      limits   = { memory = "2Gi" }
    }

    startup {
      exec    = ["ovsdb-client", "list-dbs", "unix:/run/ovn/ovn${workload.name}_db.sock"]
      period  = 2
      retries = 90
    }

    ready {
      exec    = ["sh", "-ec", file("${path.module}/ovn/ready.sh"), "ready", workload.name, local.schemas[workload.name]]
      timeout = 10
    }
  }

  workload "nb" {
    from          = "database"
    own_addresses = true

    # The southbound database follows from this one and from what the nodes report.
    backup {
      what     = "virtual networks"
      save     = ["ovsdb-client", "--timeout=300", "backup", "unix:/run/ovn/ovnnb_db.sock", local.schemas.nb]
      stage    = ["sh", "-ec", file("${path.module}/stage.sh"), "stage"]
      restore  = ["sh", "-ec", "ovsdb-client --timeout=300 restore unix:/run/ovn/ovnnb_db.sock ${local.schemas.nb} < /tmp/restore && rm /tmp/restore"]
      mismatch = chomp(file("${path.module}/ovn/mismatch.txt"))
    }

    lifecycle {
      precondition {
        condition     = self.replicas != 2
        error_message = "Two members of the databases of \"${self.name}\" are worse than one: while one is away, neither works. Run one or three."
      }
    }
  }

  workload "sb" {
    from = "database"
  }

  # All nodes and Neutron read the southbound database here, at one address. So its members only
  # have these clients and northd.
  workload "relay" {
    kind    = "Deployment"
    logs    = "console"
    image   = "ovn-sb-db-relay"
    user    = 42476
    command = ["sh", "-ec", file("${path.module}/ovn/relay.sh")]
    config  = ["unbound.conf"]
    env = {
      SOURCE           = local.sb_url
      PORT             = port.relay
      OVS_UNBOUND_CONF = "/etc/ovn/unbound.conf"
    }
    ports    = ["relay"]
    writable = ["/run/ovn"]

    resources {
      requests = { cpu = "50m", memory = "64Mi" }
      limits   = { memory = "2Gi" }
    }

    # It answers even when it has lost the database.
    ready {
      exec    = ["sh", "-ec", file("${path.module}/ovn/relay-ready.sh"), "ready", tostring(port.relay)]
      timeout = 10
    }
  }

  # One works, and the others take over when it is gone. An ovn-controller that is older than northd sets up no new
  # ports, so northd changes shortly before the rollout of the nodes.
  workload "northd" {
    stage = "nodes"
    kind  = "Deployment"
    image = "ovn-northd"
    user  = 42476
    logs  = "files"
    command = concat(
      ["ovn-northd", "-vconsole:info", "--ovnnb-db=${local.nb_url}", "--ovnsb-db=${local.sb_url}", "--unixctl=/run/ovn/ovn-northd.ctl"],
      cloud.logging == "sidecar" ? ["--log-file=/var/log/kolla/northd.out.log"] : [],
    )
    config   = ["unbound.conf"]
    env      = { OVS_UNBOUND_CONF = "/etc/ovn/unbound.conf" }
    writable = ["/run/ovn"]

    resources {
      requests = { cpu = "50m", memory = "64Mi" }
      limits   = { memory = "1Gi" }
    }

    startup { retries = 360 }
    ready {
      exec   = ["sh", "-c", "ovs-appctl -t /run/ovn/ovn-northd.ctl status | grep -qE 'active|standby'"]
      period = 30
    }
  }

  # Asks each member of the databases.
  workload "exporter" {
    enabled      = cloud.metrics
    kind         = "Deployment"
    logs         = "console"
    max_replicas = 1
    image        = "ovn-sb-db-server"
    user         = 42476
    command = [
      "python3", "-c", file("${path.module}/openvswitch/metrics.py"), tostring(port.metrics),
      "${local.schemas.nb}=${local.nb_url}", "${local.schemas.sb}=${local.sb_url}",
    ]
    ports = ["metrics"]

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

  # Clients in Python want the leader, and find it only if each member has an address.
  output "nb_members" { value = join(" ", [for member in self.members.nb : "${split(".", member)[0]}.${self.namespace}:${port.nb}"]) }

  output "nb" { value = local.nb_url }
  output "sb" { value = local.sb_url }

  # Where nodes read the southbound database.
  output "relay" { value = "tcp:${self.ports.relay.host}.svc.${input.cluster_domain}:${port.relay}" }
}
