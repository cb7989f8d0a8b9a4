# All services, servers included, on a node with four processors and 16 GB of memory or more.
cloud "all-in-one" {
  release  = "2025.1"
  distro   = var.distro
  registry = var.registry

  defaults {
    role   = role.all
    expose = exposure.public
  }
}

variable "distro" { default = "rocky-9" }
variable "registry" { default = "quay.io/openstack.kolla" }
variable "nodes" { default = ["node-1"] }
variable "vip" { default = "192.0.2.10" } # through which clients outside reach the cloud
# Class nas has one PersistentVolume, which is this share (docs/storage.md).
variable "volumes" { default = { nas = { type = "nfs", share = "nas.example.org:/volumes", storage_class = "nas" } } }

# kvm needs processors that help, and system the module openvswitch in the kernel.
variable "virt_type" { default = "kvm" }
variable "datapath_type" { default = "system" }
variable "tunnel_network" { default = null } # by default that of the node; netdev needs its own
variable "provider_interface" { default = "eth1" }
variable "dns_servers" { default = ["192.0.2.53"] } # that servers of the cloud can reach
role "all" { nodes = var.nodes }

# `kolla exposure haproxy` configures what holds the VIP: it leads to these nodes (keystone: 30500).
exposure "public" {
  vip   = var.vip
  nodes = role.all
}

service "mariadb" {}
service "rabbitmq" {}
service "memcached" {}
service "keystone" {}
service "placement" {}
service "glance" {}
service "barbican" {}
service "heat" {}
service "cinder" { backends = var.volumes }
service "horizon" {}
service "nova" {}
service "neutron" { dns_servers = var.dns_servers }
service "ovn" {}

# What servers run on: they reach the world outside through br-ex.
service "openvswitch" { datapath_type = var.datapath_type }
service "ovn-controller" {
  gateway        = true
  tunnel_network = var.tunnel_network
  bridges        = { physnet1 = { bridge = "br-ex", interface = var.provider_interface } }
}
service "neutron-ovn-metadata" {}
service "nova-compute" {
  virt_type       = var.virt_type
  nfs             = anytrue([for v in var.volumes : v.type == "nfs"])
  reserved_memory = 8192 # MB that servers do not get
}
