# Nova, Neutron and OVN with two groups of hypervisors, in one release after the other.
variable "release" {
  type = string
}

cloud "servers" {
  release = var.release
  distro  = var.distro
}

role "control" {
  nodes = ["ctl-1", "ctl-2", "ctl-3"]
}

role "compute" {
  nodes = ["cmp-1", "cmp-2"]
}

role "slow" {
  nodes = ["n2"]
}

role "network" {
  roles = [role.compute, role.slow]
}

exposure "public" {
  vip  = "192.0.2.1"
  fqdn = "cloud.example.org"
}

service "mariadb" {
  role = role.control
}

service "rabbitmq" {
  role = role.control
}

service "memcached" {
  role = role.control
}

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

service "ceph" {
  external = { host = "192.0.2.20" }
  keyrings = { cinder = "[client.cinder]\n\tkey = not-a-real-key\n" }
}

service "mariadb-cell2" {
  definition = "mariadb"
  role       = role.control
}

service "rabbitmq-cell2" {
  definition = "rabbitmq"
  role       = role.control
}

service "nova-cell2" {
  definition = "nova-cell"
  role       = role.control
  expose     = exposure.public
  with       = { mariadb = service.mariadb-cell2, rabbitmq = service.rabbitmq-cell2 }
}

service "nova" {
  cells  = [service.nova-cell2]
  role   = role.control
  expose = exposure.public
}

service "neutron" {
  role              = role.control
  expose            = exposure.public
  physical_networks = { physnet1 = { vlans = ["100:199"] } }
  dns_servers       = ["192.0.2.53"]
}

service "ovn" {
  role     = role.control
  replicas = 3
}

service "openvswitch" {
  role     = role.network
  settings = { hw-offload = "true" }
}

service "ovn-controller" {
  role           = role.network
  gateway        = true
  tunnel_network = "198.51.100.0/24"
  bridges        = { physnet1 = { bridge = "br-ex", interface = "bond1" } }
}

service "neutron-ovn-metadata" {
  role = role.network
}

service "nova-compute" {
  for_each = {
    fast = { role = role.compute, virt_type = "kvm", cell = null }
    slow = { role = role.slow, virt_type = "qemu", cell = service.nova-cell2 }
  }
  role      = each.value.role
  virt_type = each.value.virt_type
  cell      = each.value.cell
}

variable "distro" {
  type    = string
  default = "debian-bookworm"
}
