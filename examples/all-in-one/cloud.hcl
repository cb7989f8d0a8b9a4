# The smallest cloud: one node that has every role, and the four services that
# everything else in OpenStack builds on.

cloud "all-in-one" {
  release = "2025.1"

  defaults {
    # Config values for every service that has such a file.
    config "*.conf" {
      values = {
        DEFAULT = { debug = var.debug }
      }
    }
  }
}

variable "node" {
  type        = string
  default     = "node-1"
  description = "Name of the Kubernetes node that everything runs on."
}

variable "vip" {
  type        = string
  default     = "192.0.2.10"
  description = "Address through which clients outside of the cluster reach the cloud."
}

variable "debug" {
  type        = bool
  default     = false
  description = "Whether services log everything they do."
}

role "control" {
  nodes = [var.node]
}

role "compute" {
  nodes = [var.node]
}

# Clients use the VIP and the services' own ports. `kolla exposure haproxy` configures
# what holds the VIP and leads to the node ports (keystone: 30500) of these nodes.
exposure "public" {
  vip   = var.vip
  mode  = "nodeport"
  nodes = role.compute
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
