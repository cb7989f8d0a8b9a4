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
