definition "inside" {
  config "inside.conf" {
    path   = "/etc/inside.conf"
    values = { DEFAULT = { peer = "memcached.openstack" } }
  }
  workload "api" {
    kind   = "Deployment"
    image  = "inside"
    config = ["inside.conf"]
  }
}

service "inside" {}
