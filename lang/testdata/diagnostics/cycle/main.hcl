cloud "test" {
  release = "2025.1"
}

locals {
  a = local.b
  b = "${local.c}!"
  c = local.a
  d = local.d
  e = local.b
}

definition "left" {
  port "p" {
    number = 1
  }
  config "left.conf" {
    path   = "/etc/left.conf"
    values = { x = { y = service.right.host } }
  }
}

definition "right" {
  port "p" {
    number = 2
  }
}

service "left" {
}

service "right" {
  replicas   = local.n
  depends_on = [service.left]
}

service "memcached" {
  replicas = local.fine
}

locals {
  n    = 2
  fine = 1
}

definition "mounting" {
  workload "api" {
    kind  = "Deployment"
    image = "mounting"
    user  = 1000
    env   = { TOKEN = local.token }
  }
}

locals {
  token = secret.late.value
}

service "mounting" {
}

secret "late" {
  depends_on = [manifest.late]
}

manifest "late" {
  object     = { apiVersion = "v1", kind = "ConfigMap", metadata = { name = "late" } }
  depends_on = [service.mounting]
}
