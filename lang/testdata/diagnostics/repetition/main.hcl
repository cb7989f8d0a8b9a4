cloud "c" {
  release = "2025.1"
}

variable "token" {
  sensitive = true
  default   = { a = "hunter2" }
}

locals {
  racks = ["a", "b"]
}

role "both" {
  for_each = {}
  count    = 1
  nodes    = ["n"]
}

role "list" {
  for_each = local.racks
  nodes    = ["n"]
}

role "nothing" {
  for_each = null
  nodes    = ["n"]
}

role "number" {
  for_each = 3
  nodes    = ["n"]
}

role "secret" {
  for_each = var.token
  nodes    = ["n"]
}

role "negative" {
  count = -1
  nodes = ["n"]
}

role "half" {
  count = 1.5
  nodes = ["n"]
}

role "wrong" {
  enabled = "perhaps"
  nodes   = ["n"]
}

role "plain" {
  nodes = [each.key, count.index]
}

role "unsuitable_name" {
  nodes = ["n"]
}

role "bad-key" {
  for_each = toset(["A_B"])
  nodes    = ["n"]
}

role "off" {
  enabled = false
  nodes   = ["n"]
}

service "memcached" {
  for_each = toset(["a", "b"])
  name     = "memcached"
}

service "mariadb" {
  role = role.off
}

service "keystone" {
  enabled = false
}

service "agent" {
  role = role.list["a"]

  config "agent.properties" {
    values = {
      off   = service.keystone.host
      tried = try(service.keystone.host, "none")
      which = service.memcached["c"].host
    }
  }

  depends_on = [service.memcached["a"], service.keystone, service.memcached[local.racks[0]]]
}

service "numbered" {
  definition = "memcached"
  count      = 2
}

locals {
  number   = service.numbered.host
  numbered = service.numbered[2].host
  which    = service.memcached.host
}

role "null-element" {
  for_each = toset(["a", null])
  nodes    = ["n"]
}

role "null-count" {
  count = null
  nodes = ["n"]
}

role "odd" {
  for_each = toset(["$${x}"])
  nodes    = ["n"]
}

# Only the evaluation shows that the definition needs the role.
definition "round" {
  workload "main" {
    kind  = "Deployment"
    image = "round"
    user  = 42400
    role  = "round"
  }
}

service "round" {}

role "round" {
  nodes = [service.round.name]
}
