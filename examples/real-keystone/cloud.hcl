# A cloud that really answers, on the local cluster's real nodes: one for the control
# services, two through which the outside gets in. `make test-real` breaks it again and
# again.

cloud "real" {
  release  = "2025.1"
  distro   = "debian-trixie"
  registry = "kolla.test/openstack.kolla" # the test images of internal/dev/devimages
}

variable "vip" {
  type        = string
  default     = "10.200.0.100"
  description = "Address that HAProxy holds, outside of the cluster."
}

variable "token_expiration" {
  type        = number
  default     = 86400
  description = "How long tokens are good for, in seconds."
}

role "control" {
  nodes = ["real-1"]
}

role "compute" {
  nodes = ["real-2", "real-3"]
}

# `kolla exposure haproxy` writes the configuration of the machine with the VIP:
# requests are spread over the compute nodes, none of which runs keystone.
exposure "public" {
  vip   = var.vip
  mode  = "nodeport"
  nodes = role.compute
}

service "mariadb" { role = role.control }
service "rabbitmq" { role = role.control }
service "memcached" { role = role.control }

service "keystone" {
  role     = role.control
  replicas = 2
  expose   = exposure.public

  config "keystone.conf" {
    values = { token = { expiration = var.token_expiration } }
  }

  # Its pods get Kubernetes' variables of all Services, such as MARIADB_SERVICE_HOST.
  workload "api" {
    service_links = true
  }
}
