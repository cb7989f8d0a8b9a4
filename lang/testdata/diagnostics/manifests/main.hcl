cloud "test" {
  release = "2025.1"
}

manifest "none" {
}

manifest "both" {
  object = {}
  files  = []
}

manifest "files" {
  files = ["*.yaml", "nothing/*.yaml"]
}

manifest "object" {
  object = {
    kind     = "ConfigMap"
    metadata = { name = 3 }
  }
}

manifest "list" {
  object = ["a"]
}

manifest "depends" {
  depends_on = [service.keystne, manifest.depends, role.x, "service.a", manifest.list]
  object     = { apiVersion = "v1", kind = "Namespace", metadata = { name = "x" } }
}

manifest "depends2" {
  depends_on = service.keystone
  object     = { apiVersion = "v1", kind = "Namespace", metadata = { name = "y" } }
}

service "keystone" {
  config "keystone.conf" {
    values = { cache = null, database = null }
  }
}

service "mariadb" {}

manifest "directory" {
  files = ["objects.d"]
}
