# Servers: three nodes that are controllers and hypervisors at once. Give the roles nodes of
# their own to take them apart.
cloud "compute-kit" {
  release  = "2025.1"
  distro   = var.distro
  registry = var.registry

  # Of services that do not say otherwise.
  defaults {
    role   = role.control
    expose = exposure.public
  }
}

variable "distro" { default = "rocky-9" }
variable "registry" { default = "quay.io/openstack.kolla" }
variable "control" { default = ["node-1", "node-2", "node-3"] }
variable "compute" { default = ["node-1", "node-2", "node-3"] }
variable "vip" { default = "192.0.2.10" } # through which clients outside reach the cloud
# Class nas has one PersistentVolume, which is this share (docs/storage.md).
variable "volumes" { default = { nas = { type = "nfs", share = "nas.example.org:/volumes", storage_class = "nas" } } }

# kvm needs processors that help, and system the module openvswitch in the kernel.
variable "virt_type" { default = "kvm" }
variable "datapath_type" { default = "system" }
variable "tunnel_network" { default = null } # by default that of the nodes; netdev needs its own
variable "provider_interface" { default = "eth1" }
variable "dns_servers" { default = ["192.0.2.53"] } # that servers of the cloud can reach

role "control" { nodes = var.control }
role "compute" { nodes = var.compute }

exposure "public" {
  vip   = var.vip
  nodes = role.control
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
service "neutron" {
  distributed_floating_ips = true
  dns_servers              = var.dns_servers
}
service "ovn" {}

# On every node with servers. Networks between nodes go through tunnels, and out of the
# cloud through br-ex.
service "openvswitch" {
  role          = role.compute
  datapath_type = var.datapath_type
}
service "ovn-controller" {
  role           = role.compute
  gateway        = true
  tunnel_network = var.tunnel_network
  bridges        = { physnet1 = { bridge = "br-ex", interface = var.provider_interface } }
}
service "neutron-ovn-metadata" { role = role.compute }
service "nova-compute" {
  role            = role.compute
  virt_type       = var.virt_type
  nfs             = anytrue([for v in var.volumes : v.type == "nfs"])
  reserved_memory = 8192 # MB that servers do not get; 2048 is enough without control services
}
