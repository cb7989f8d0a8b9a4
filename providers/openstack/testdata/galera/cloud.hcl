# MariaDB in a cluster, in one release after the other.
variable "release" {
  type = string
}

variable "distro" {
  type    = string
  default = "debian-bookworm"
}

cloud "galera" {
  release = var.release
  distro  = var.distro
}

role "control" {
  nodes = ["ctl-1", "ctl-2", "ctl-3"]
}

service "mariadb" {
  role            = role.control
  replicas        = 3
  buffer_pool     = "8G"
  redo_log        = "1G"
  binary_log_days = 7
}
