cloud "dev" {
  release = "2026.1"
  distro  = var.distro
}

variable "distro" { default = "rocky-9" }

service "memcached" {}
