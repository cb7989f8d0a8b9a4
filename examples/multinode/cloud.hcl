# Three control nodes, two hypervisors, and one address for the outside.

cloud "multinode" {
  release  = "2025.1"
  distro   = "rocky-9"
  registry = "quay.io/openstack.kolla"
  region   = "RegionOne"

  # For all services, in modules too, that do not say otherwise.
  defaults {
    role   = role.control
    expose = exposure.public

    storage_class = var.storage_class

    config "*.conf" {
      values = {
        DEFAULT = { debug = false }
      }
    }
  }
}

locals {
  control_nodes = [for n in range(1, 4) : "ctl-${n}"]
}
