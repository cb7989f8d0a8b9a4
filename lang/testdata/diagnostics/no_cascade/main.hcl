cloud "test" {
  release   = var.release
  namespace = var.namespace
}

variable "release" {}
variable "namespace" {}
variable "node" {}

role "control" {
  nodes = [var.node]
}

exposure "public" {
  vip = var.namespace
}

service "mariadb" {
  role = role.controll
}

service "memcached" {
  role   = role.control
  expose = exposure.public
}

service "keystone" {
  replicas = length(var.node)
  config "keystone.conf" {
    values = {
      DEFAULT = { a = var.node, b = local.broken, c = "${local.broken}-x" }
      extra   = local.broken
    }
  }
}

locals {
  broken = var.release + local.nothing
  after  = local.broken.x[3]
}

manifest "x" {
  object = {
    apiVersion = local.broken
  }
}
