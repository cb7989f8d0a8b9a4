# A primary with replicas that its clients find through a Service: README.md walks through it.
cloud "discovery" {
  release = "2026.1"
  distro  = "debian-trixie"
}

role "all" {
  nodes = ["node-1", "node-2", "node-3"]
}

service "valkey" {
  role = role.all
}

# A client that counts. It asks the Service of the sentinels for the primary, each time.
definition "counter" {
  description = "Counts in Valkey"

  config "password" {
    format  = "raw"
    path    = "/etc/counter/password"
    content = service.valkey.password
  }

  workload "main" {
    kind    = "Deployment"
    image   = "valkey-server"
    user    = 42494
    command = ["sh", "-c", file("${path.module}/count.sh")]

    env = {
      SENTINEL_HOST = split(":", service.valkey.sentinel)[0]
      SENTINEL_PORT = split(":", service.valkey.sentinel)[1]
      PRIMARY       = service.valkey.primary
    }

    config = ["password"]
  }
}

service "counter" {
  role = role.all
}
