cloud "prod" {
  release   = "2025.1"
  distro    = "rocky-9"
  registry  = "quay.io/openstack.kolla"
  namespace = "openstack"
  region    = "RegionOne"

  defaults {
    config "*.conf" {
      values = { DEFAULT = { debug = false } }
    }
  }
}

variable "vip" {
  type        = string
  description = "Address that clients outside the cluster use."
}

role "control" {
  nodes  = ["ctl-1", "ctl-2", "ctl-3"]
  labels = { "kolla.openstack.org/role-control" = "true" }
}

role "compute" {
  match  = { "node.kubernetes.io/instance-type" = "hypervisor" }
  labels = { "kolla.openstack.org/role-compute" = "true" }
}

exposure "public" {
  vip   = var.vip
  fqdn  = "cloud.example.org"
  mode  = "nodeport"
  nodes = role.compute
}

service "mariadb" { role = role.control }
service "rabbitmq" { role = role.control }
service "memcached" { role = role.control }

service "keystone" {
  role     = role.control
  replicas = 3
  expose   = exposure.public
  config "keystone.conf" {
    values = { token = { expiration = 7200 } }
  }
}
