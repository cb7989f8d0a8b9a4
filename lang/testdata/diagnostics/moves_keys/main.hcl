cloud "prod" {
  release = "2025.1"
}

variable "many" {
  default = false
}

manifest "site" {
  for_each = toset(["a", "b"])
  object   = { apiVersion = "v1", kind = "ConfigMap", metadata = { name = each.key } }
}

manifest "none" {
  count  = var.many ? 2 : 0
  object = { apiVersion = "v1", kind = "ConfigMap", metadata = { name = "none-${count.index}" } }
}

manifest "single" {
  object = { apiVersion = "v1", kind = "ConfigMap", metadata = { name = "single" } }
}

module "edge" {
  for_each = toset(["west"])
  source   = "./edge"
}

# Good: one that had no key, a chain, one that has no instance at present.
moved {
  from = manifest.site
  to   = manifest.site["a"]
}

moved {
  from = manifest.older
  to   = manifest.old
}

moved {
  from = manifest.old
  to   = manifest.single
}

moved {
  from = manifest.gone
  to   = manifest.none[0]
}

moved {
  from = module.side.manifest.note
  to   = module.edge["west"].manifest.note
}

# Not good.
moved {
  from = manifest.x
  to   = manifest.site["c"]
}

moved {
  from = manifest.site["b"]
  to   = manifest.single
}

moved {
  from = manifest.site
  to   = manifest.site["b"]
}

moved {
  from = module.side
  to   = module.edge["east"]
}

moved {
  from = manifest.y
  to   = "manifest.site[b]"
}

moved {
  from = module.other
  to   = manifest.single
}

removed {
  from = manifest.site
}

removed {
  from = manifest.site["b"]
}

removed {
  from = manifest.site["z"]
}

removed {
  from = module.edge
}

import {
  for_each = toset(["a", "z"])
  to       = "manifest.site[\"${each.key}\"]/ConfigMap/${each.key}"
  id       = "openstack/${each.key}"
}

import {
  to = "module.edge[\"wst\"].manifest.note/ConfigMap/note"
  id = "openstack/note"
}

import {
  to = each.key
  id = "a"
}
