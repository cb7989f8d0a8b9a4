# None of this is to be warned of.
cloud "test" {
  release = "2025.1"
}

role "control" {
  nodes = ["a", "b", "c"]
}

role "compute" {
  nodes = ["d"]
}

role "matched" {
  match = { disk = "ssd" }
}

role "other" {
  match = { gpu = "yes" }
}

definition "own" {
  port "api" {
    number = 80
    expose = true
  }
  config "own.conf" {
    path = "/etc/own.conf"
    values = {
      DEFAULT = {
        log    = "/var/log/openstack/memcached.openstack.log"
        name   = service.memcached.name
        peer   = service.memcached.address
        mail   = "memcached@example.org"
        doc    = "see memcached.openstack.org"
        stream = "x.openstack"
        self   = "http://${self.host}:80/"
        bind   = "10.0.0.1:80,0.0.0.0:11211"
        outer  = "http://192.0.2.10:3306,192.0.2.1:9999"
        word   = "memcached,mariadb:99"
        part   = "${self.name}-api-0.${self.name}-api.openstack.svc"
      }
    }
  }
  workload "api" {
    kind         = "Deployment"
    image        = "own"
    ports        = ["api"]
    config       = ["own.conf"]
    host_network = true
  }
}

definition "plain" {
  config "plain.conf" {
    path = "/etc/plain.conf"
    # The first needs this service in turn, and the second is needed by the third.
    values = { DEFAULT = { user = "user.openstack", cache = "memcached.openstack", root = "http://own-again.openstack" } }
  }
  workload "plain" {
    kind   = "Deployment"
    image  = "plain"
    config = ["plain.conf"]
  }
}

definition "user" {
  workload "user" {
    kind  = "Deployment"
    image = "user"
    env   = { PLAIN = service.plain.host }
  }
}

manifest "mem" {
  object = {
    apiVersion = "v1"
    kind       = "Service"
    metadata   = { name = "memcached1" }
  }
}

exposure "public" {
  vip  = "192.0.2.10"
  fqdn = "cloud.example.org"
}

service "memcached" {}
service "mariadb" {}
service "user" {}

service "own" {
  role     = role.control
  replicas = 2
  config "own.conf" {
    values = { DEFAULT = { name = "memcached", peer = "cloud.example.org:11211", seed = "memcached1.openstack" } }
  }
}

service "own-again" {
  definition = "own"
  role       = role.compute
  depends_on = [service.memcached]
  config "own.conf" {
    values = { DEFAULT = { peer = "memcached.openstack:11211", url = "http://memcached.openstack.svc" } }
  }
}

service "own-matched" {
  definition = "own"
  role       = role.matched
}

service "own-other" {
  definition = "own"
  role       = role.other
}

service "plain" {
  depends_on = [service.own-again]
}
