# Roles by name, and by a label that the nodes have already.

role "control" {
  nodes  = local.control_nodes
  labels = { "kolla.openstack.org/role-control" = "true" }
}

role "compute" {
  match  = { "node.kubernetes.io/instance-type" = "hypervisor" }
  labels = { "kolla.openstack.org/role-compute" = "true" }
}

# Clients use the VIP and the services' own ports. `kolla exposure haproxy` configures
# what holds the VIP and leads to the node ports (keystone: 30500) of these nodes.
exposure "public" {
  vip   = var.vip
  fqdn  = "cloud.example.org"
  mode  = "nodeport"
  nodes = role.compute
}
