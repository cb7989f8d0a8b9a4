locals {
  path = "/etc/web.conf"
}

definition "web" {
  config "web.conf" {
    path   = local.path
    values = { cache = { server = service.memcached.address } }
  }

  workload "main" {
    kind   = "Deployment"
    image  = "web"
    user   = 42400
    config = ["web.conf"]
  }
}
