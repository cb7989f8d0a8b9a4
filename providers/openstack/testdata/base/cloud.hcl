# What all others need, in one release after the other.
variable "release" {
  type = string
}

cloud "base" {
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

service "rabbitmq" {
  role = role.control
}

service "memcached" {
  role = role.control
}

service "keystone" {
  role     = role.control
  replicas = 3
  expose   = exposure.public
}

variable "distro" {
  type    = string
  default = "debian-bookworm"
}
