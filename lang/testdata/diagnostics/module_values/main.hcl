cloud "c" {
  release = "2025.1"
}

variable "password" {
  sensitive = true
  default   = "hunter2"
}

service "mariadb" {}

module "edge" {
  source   = "./edge"
  replicas = "many"
  password = var.password
  strict   = { a = var.password }
}

module "other" {
  source   = "./edge"
  for_each = toset(["x", "y"])
  region   = each.key
  replicas = 50
  password = "x"
}

module "off" {
  source   = "./edge"
  enabled  = false
  region   = "r"
  password = "p"
}

locals {
  a = module.edge.nothing
  b = module.other.address
  c = module.other["z"].address
  d = module.nowhere.address
  e = module.edge.password
  f = module.off.address
}

service "memcached" {
  depends_on = [module.nowhere]
  definition = module.edge.definition.nothing
}

service "web" {
  definition = module.edge.web
}

output "password" {
  value = module.edge.password
}

service "many" {
  definition = module.other.definition.web
}
