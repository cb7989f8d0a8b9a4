cloud "c" {
  release = "2025.1"
}

role "control" {
  nodes = [local.nothing]
}

role "compute" {
  node = ["cmp-1"]
}

variable "defaulted" {
  defualt = "x"
}

variable "size" {
  type = nubmer
}

variable "region" {
}

variable "zone" {
}

module "part" {
  source  = "./part"
  replcas = 3
}

manifest "objects" {
  content = {}
}

output "values" {
  values = 1
}

service "memcached" {
  role     = role.control
  name     = "m-${role.control.nodes[0]}-${var.zone}"
  replicas = var.size
  count    = module.part.replicas
}

service "mariadb" {
  role = role.compute
  name = "${var.region}-${var.defaulted}-${service.memcached[0].name}"
}
