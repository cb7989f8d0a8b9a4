cloud "prod" {
  release = "2025.1"
}

variable "guard" {
  default = true
}

variable "keys" {
  default = { users = ["spec.replicas"], images = [] }
}

service "mariadb" {}

service "memcached" {
  for_each = var.keys
  lifecycle {
    prevent_destroy      = var.guard && each.key == "users"
    ignore_fields        = concat(each.value, ["metadata.annotations[\"${each.key}/*\"]"])
    yield_to             = ["scaler-${each.key}"]
    force_conflicts      = each.key == "images"
    replace_triggered_by = [service.mariadb, module.edge["west"]]
  }
  workload "server" {
    lifecycle {
      replace_triggered_by = ["manifest.notes/ConfigMap/notes"]
    }
  }
}

manifest "notes" {
  object = { apiVersion = "v1", kind = "ConfigMap", metadata = { name = "notes" } }
}

module "edge" {
  for_each = toset(["east", "west"])
  source   = "./edge"
  name     = each.key
}

moved {
  from = service.memcached
  to   = service.memcached["users"]
}

moved {
  from = module.edge
  to   = module.edge["west"]
}

removed {
  from = service.memcached["sessions"]
  lifecycle { destroy = false }
}

import {
  for_each = toset(["east", "west"])
  to       = "module.edge[\"${each.key}\"].manifest.note/ConfigMap/${each.key}"
  id       = "${cloud.namespace}/${each.key}"
}
