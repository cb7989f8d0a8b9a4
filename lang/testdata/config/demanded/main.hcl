# What only the evaluation shows is evaluated in time, and is a dependency.

cloud "prod" {
  release = "2025.1"
}

locals {
  first  = service.app.name
  output = module.m.west.out
}

module "m" {
  source   = "./m"
  for_each = toset(["west"])
}

definition "app" {
  dynamic "database" {
    for_each = ["d"]
    labels   = [database.value]

    content {
      server = join("", ["maria", "db"])
    }
  }

  config "app.conf" {
    path        = "/etc/app.conf"
    secret_path = "/etc/secret.conf"
    values      = { s = { host = database.d.host, out = local.output } }
  }

  workload "main" {
    kind   = "Deployment"
    image  = "app"
    user   = 42400
    role   = "control"
    config = ["app.conf"]

    dynamic "mount" {
      for_each = ["shared"]
      labels   = [mount.value]

      content {
        path = "/shared"
      }
    }
  }
}

service "app" {}

service "mariadb" {}

secret "shared" {}

role "control" {
  nodes = ["ctl-1"]
}

manifest "note" {
  object = {
    apiVersion = "v1"
    kind       = "ConfigMap"
    metadata   = { name = local.output }
  }
}
