cloud "test" {
  release = "2025.1"
  region  = var.regoin
}

variable "region" {
  default = "one"
}

role "control" {
  nodes = [local.node, role.control2.name]
}

locals {
  nodes    = ["a"]
  bare     = control
  quoted   = prod
  whole    = service
  computed = service[local.nodes[0]]
  attr     = role.control.lables
  deep     = cloud.namespace.x
  function = joim(",", local.nodes)
  call     = upper()
  index    = local.nodes[3]
}

service "memcached" {
  role     = "control"
  expose   = role.control
  replicas = self.replicaz
}
