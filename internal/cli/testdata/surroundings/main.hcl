# What the snippets of the documents stand in. A block of a snippet takes the place of
# the one here that has its type and its label.

cloud "prod" {
  release      = "2025.1"
  pod_security = "privileged" # without a warning of pods that need it
}

variable "vip" {
  type    = string
  default = "192.0.2.10"
}

variable "password" {
  type      = string
  default   = "example"
  sensitive = true
}

variable "token" {
  type      = string
  default   = "example"
  sensitive = true
}

role "control" {
  nodes = ["ctl-1", "ctl-2", "ctl-3"]
}

role "compute" {
  match = { "node.kubernetes.io/instance-type" = "hypervisor" }
}

exposure "public" {
  vip   = var.vip
  nodes = role.compute
}

service "mariadb" {}

service "rabbitmq" {}

service "memcached" {}

service "keystone" {}
