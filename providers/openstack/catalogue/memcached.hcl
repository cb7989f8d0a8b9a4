# Memcached. Nothing is kept: a restart costs a cold cache. The replicas know nothing
# of each other: clients spread keys over all of them, by name.
definition "memcached" {
  from        = "exported"
  description = "Cache of tokens and of other short-lived data"
  stage       = "data"

  port "memcache" {
    number = 11211
  }

  port "metrics" {
    number = 9150
  }

  workload "server" {
    kind    = "StatefulSet"
    logs    = "console"
    image   = "memcached"
    user    = 42457
    command = ["memcached", "-v", "-l", "0.0.0.0", "-p", tostring(port.memcache), "-U", "0", "-c", "5000", "-m", "256"]
    ports   = ["memcache"]

    resources {
      requests = { cpu = "50m", memory = "288Mi" }
      limits   = { memory = "384Mi" }
    }

    ready {
      tcp = "memcache"
    }
  }

  # One for each member.
  workload "exporter" {
    kind    = "StatefulSet"
    image   = "prometheus-memcached-exporter"
    user    = 42472
    command = concat(local.exporter, ["/opt/memcached_exporter/memcached_exporter", "--web.listen-address=:${port.metrics}"])
    env = {
      FLAG    = "--memcached.address"
      MEMBERS = join(" ", [for member in self.members.server : "${member}:${port.memcache}"])
      POD     = pod.name
    }

    resources {
      requests = { cpu = "10m", memory = "16Mi" }
      limits   = { memory = "64Mi" }
    }
  }

  output "servers" {
    value = self.external ? self.address : join(",", [
      for n in range(self.replicas) : "${self.name}-server-${n}.${self.name}-server.${self.namespace}:${port.memcache}"
    ])
  }
}
