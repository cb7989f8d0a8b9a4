# The role control lists its nodes by name. The role compute selects nodes by a label. A kubelet may
# set this label on its own node, and so join the role. A label in the domain
# node-restriction.kubernetes.io is out of its reach.

role "control" {
  nodes = local.control_nodes
}

role "compute" {
  match = { "node.kubernetes.io/instance-type" = "hypervisor" }
}

# Clients use the VIP and the services' own ports. `kolla exposure haproxy` prints
# the configuration of the load balancer that holds the VIP and forwards to the node ports.
exposure "public" {
  vip   = var.vip
  fqdn  = "cloud.example.org"
  mode  = "nodeport"
  nodes = role.compute
}
