# Services that keep data, with several members, and Cinder with locks in Valkey, in one release after
# the other.
variable "release" {
  type = string
}

cloud "state" {
  release = var.release
  distro  = var.distro
}

role "control" {
  nodes = ["ctl-1", "ctl-2", "ctl-3"]
}

exposure "public" {
  vip  = "192.0.2.1"
  fqdn = "cloud.example.org"
}

service "mariadb" {
  role = role.control
}

service "memcached" {
  role = role.control
}

service "rabbitmq" {
  role            = role.control
  replicas        = 3
  memory          = "8Gi"
  disk_free_limit = "5GB"
}

service "valkey" {
  role = role.control
}

service "keystone" {
  role   = role.control
  expose = exposure.public
}

service "cinder" {
  role             = role.control
  expose           = exposure.public
  coordination_url = service.valkey.coordination_url

  backends = {
    nfs = { type = "nfs", share = "nas.example.org:/volumes", storage_class = "nas" }
  }
}

variable "distro" {
  type    = string
  default = "debian-bookworm"
}
