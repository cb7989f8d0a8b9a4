cloud "prod" {
  release = "2025.1"
}

variable "which" {
  default = "mariadb"
}

module "edge" {
  source = "./edge"
}

service "mariadb" {}

service "memcached" {
  lifecycle {
    replace_triggered_by = [service.mariadbb, service.memcached, role.a]
  }
  workload "server" {
    lifecycle {
      replace_triggered_by = service.mariadb
    }
  }
}

manifest "a" {
  object = { apiVersion = "v1", kind = "ConfigMap", metadata = { name = "a" } }
  lifecycle {
    replace_triggered_by = [
      "service.${var.which}",
      module.edge.manifest.nothing,
      module.edge["x"].manifest.note,
      "module.edge.manifest.note/ConfigMap",
      "manifest.a/ConfigMap/a",
    ]
  }
}

manifest "first" {
  object = { apiVersion = "v1", kind = "ConfigMap", metadata = { name = "first" } }
  lifecycle {
    replace_triggered_by = [manifest.second]
  }
}

manifest "second" {
  object     = { apiVersion = "v1", kind = "ConfigMap", metadata = { name = "second" } }
  depends_on = [manifest.first]
}

definition "own" {
  workload "main" {
    kind  = "Deployment"
    image = "own"
    user  = 1000
    lifecycle {
      replace_triggered_by = [service.mariadb]
    }
  }
}

service "own" {}

secret "token" {}

manifest "keyed" {
  for_each = { a = "first", b = "third" }
  object   = { apiVersion = "v1", kind = "ConfigMap", metadata = { name = each.key } }
  lifecycle {
    replace_triggered_by = [
      manifest.keyed[each.key],
      service.mariadb[each.key],
      service[each.key],
      manifest.a[secret.token.value],
      manifest.a[[each.key]],
      manifest.a[data.later.object.data.key],
      manifest.a[each.nothing],
    ]
  }
}

data "later" {
  kind       = "ConfigMap"
  name       = "second"
  depends_on = [manifest.second]
}
