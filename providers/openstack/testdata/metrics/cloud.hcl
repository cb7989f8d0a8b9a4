# A cloud with metrics, which nothing else turns on.
variable "release" {
  type    = string
  default = "2025.1"
}

variable "distro" {
  type    = string
  default = "debian-bookworm"
}

variable "mode" {
  type    = string
  default = "services"
}

cloud "metrics" {
  release = var.release
  distro  = var.distro

  metrics {
    mode   = var.mode
    labels = { release = "monitoring" }

    allow "prometheus" {
      pods = { "app.kubernetes.io/name" = "prometheus" }
    }

    allow "cluster" {
      namespace = "monitoring"
    }
  }

  defaults {
    role   = role.control
    expose = exposure.public
  }
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
  vip   = "192.0.2.10"
  mode  = "managed"
  nodes = role.control

  keepalived {
    interface = "eth0"
  }
}

service "mariadb" {
  replicas = 3
}

service "memcached" {
  replicas = 2
}

service "rabbitmq" {}

service "keystone" {}

service "placement" {}
service "glance" {}

service "nova" {}

service "neutron" {
  dns_servers = ["192.0.2.53"]
}

service "ovn" {
  replicas = 3
}

service "openvswitch" {
  role = role.network
}

service "ovn-controller" {
  role    = role.network
  gateway = true
  bridges = { physnet1 = { bridge = "br-ex", interface = "bond1" } }
}

service "neutron-ovn-metadata" {
  role = role.network
}

service "nova-compute" {
  for_each = { fast = role.compute, slow = role.slow }
  role     = each.value
}

service "prometheus" {
  enabled  = var.mode == "services"
  probes   = { shop = "https://shop.example.org/", placement = null }
  optional = ["nova-compute-slow-exporter-metrics"]
  runbooks = "https://handbook.example.org/alerts"

  ceph_managers = ["192.0.2.21:9283", "192.0.2.22:9283"]
}

service "alertmanager" {
  settings = {
    route     = { receiver = "people" }
    receivers = [{ name = "people", webhook_configs = [{ url = "https://alerts.example.org/" }] }]
  }
}

service "blackbox-exporter" {}

service "openstack-exporter" {}

service "grafana" {
  enabled = var.mode == "services"
}
