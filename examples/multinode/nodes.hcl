# The role control lists its nodes by name. The role compute selects nodes by a label.

role "control" {
  nodes  = local.control_nodes
  labels = { "kolla.openstack.org/role-control" = "true" }
}

role "compute" {
  match  = { "node.kubernetes.io/instance-type" = "hypervisor" }
  labels = { "kolla.openstack.org/role-compute" = "true" }
}

# Clients use the VIP and the services' own ports. `kolla exposure haproxy` prints
# the configuration of the load balancer that holds the VIP and forwards to the node ports.
exposure "public" {
  vip   = var.vip
  fqdn  = "cloud.example.org"
  mode  = "nodeport"
  nodes = role.compute
}
