cloud "test" {
  release    = "2025.1"
  config_dir = "config"
}

definition "own" {
  port "api" {
    number = 80
  }
  config "own.conf" {
    path   = "/etc/own.conf"
    values = { DEFAULT = { peer = "http://memcached.openstack:11211/" } }
  }
  config "own.json" {
    format  = "raw"
    path    = "/etc/own.json"
    content = jsonencode({ peers = ["memcached.openstack.svc.cluster.local", "memcache.openstack"] })
  }
  job "make" {
    image = "own"
    args  = ["--peer=memcached-server.openstack"]
  }
  workload "api" {
    kind   = "Deployment"
    image  = "own"
    ports  = ["api"]
    config = ["own.conf", "own.json"]
  }
}

service "memcached" {}

service "own" {
  config "own.conf" {
    values = { other = { url = "memcachd.openstack,http://x@memcached.openstack/?q" } }
  }
  workload "api" {
    env = { PEER = "memcached.openstack:11211", SHORT = "memcached:11211", BOTH = "tcp://x@memcached/?q,memcached:11211" }
  }
}

module "inner" {
  source = "./inner"
}
