# Servers and their networks. Nova, Neutron and OVN's databases run on the control nodes.
service "nova" {
  replicas = 2
}

service "neutron" {
  replicas                 = 2
  distributed_floating_ips = true
  dns_servers              = var.dns_servers
}

# One member of each database on each control node.
service "ovn" {
  replicas = length(local.control_nodes)
}

# On every hypervisor. Networks between nodes go through tunnels, and out of the cloud through
# br-ex, which has an interface without an address of its own.
service "openvswitch" {
  role = role.compute
}

service "ovn-controller" {
  role           = role.compute
  gateway        = true
  tunnel_network = var.tunnel_network
  bridges        = { physnet1 = { bridge = "br-ex", interface = var.provider_interface } }
}

service "neutron-ovn-metadata" {
  role = role.compute
}

# Servers keep their disks on the node, and get volumes from Ceph.
service "nova-compute" {
  role = role.compute
}
