# One node with every role, and all services but those that run servers.
cloud "all-in-one" {
  release  = "2025.1"
  distro   = var.distro
  registry = var.registry
}

variable "distro" { default = "rocky-9" }
variable "registry" { default = "quay.io/openstack.kolla" }
variable "nodes" { default = ["node-1"] }
variable "vip" { default = "192.0.2.10" } # through which clients outside reach the cloud
# The volumes are files on this share: the storage class of Cinder's claim "files" has to
# make its volumes there.
variable "volumes" { default = { nas = { type = "nfs", share = "nas.example.org:/volumes" } } }

role "control" { nodes = var.nodes }

# `kolla exposure haproxy` configures what holds the VIP: it leads to the node ports of
# these nodes (keystone: 30500).
exposure "public" {
  vip   = var.vip
  mode  = "nodeport"
  nodes = role.control
}

service "mariadb" { role = role.control }
service "rabbitmq" { role = role.control }
service "memcached" { role = role.control }
service "keystone" {
  role   = role.control
  expose = exposure.public
}
service "placement" {
  role   = role.control
  expose = exposure.public
}
service "glance" {
  role   = role.control
  expose = exposure.public
}
service "barbican" {
  role   = role.control
  expose = exposure.public
}
service "heat" {
  role   = role.control
  expose = exposure.public
}
service "cinder" {
  role     = role.control
  expose   = exposure.public
  backends = var.volumes
}
service "horizon" {
  role   = role.control
  expose = exposure.public
}
