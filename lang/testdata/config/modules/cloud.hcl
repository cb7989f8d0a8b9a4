cloud "prod" {
  release = "2025.1"

  defaults {
    config "*.conf" {
      values = { DEFAULT = { site = local.site, me = self.name } }
    }
  }
}

locals {
  site = "north"
}

role "control" {
  nodes = ["ctl-1"]
}

service "memcached" {}

module "lib" {
  source = "./lib"
}

module "edge" {
  source   = "./edge"
  for_each = { west = 1, east = 2 }

  region   = each.key
  role     = role.control
  replicas = each.value
}

service "web" {
  definition = module.lib.definition.web
  depends_on = [module.edge["west"]]

  config "web.conf" {
    values = {
      peers = {
        west = module.edge["west"].address
        all  = [for e in module.edge : e.address]
      }
    }
  }
}

output "addresses" {
  description = "Where the edges are."
  value       = { for name, e in module.edge : name => e.address }
}

# What its definition needs it finds in the module, which is the only one that has it.
module "backing" {
  source = "./backing"
}

service "keystone" {}
