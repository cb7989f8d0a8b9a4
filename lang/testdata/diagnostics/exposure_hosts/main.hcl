cloud "test" {
  release = "2025.1"
}

exposure "web" {
  mode             = "ingress"
  fqdn             = "cloud.example.org"
  wait_for_address = false
}

exposure "named" {
  mode   = "gateway"
  domain = "Cloud.example.org"
  class  = "traefik"
  port   = 70000
}

exposure "gate" {
  mode             = "gateway"
  domain           = "cloud.example.org"
  wait_for_address = false

  gateway {
    namespace = "gateways"
    listener  = "http"
  }
}

exposure "nodes" {
  vip    = "192.0.2.10"
  domain = "cloud.example.org"

  gateway {
    name = "public"
  }
}

exposure "one" {
  mode   = "ingress"
  domain = "one.example.org"
  vip    = "192.0.2.20"
}

exposure "same" {
  mode   = "ingress"
  domain = "one.example.org"
  vip    = "192.0.2.20"
}

exposure "other" {
  mode   = "ingress"
  domain = "other.example.org"
  vip    = "192.0.2.20"
  class  = "other"
}

definition "mixed" {
  port "web" {
    number = 8080
    expose = true
  }
  port "dns" {
    number   = 53
    protocol = "udp"
    expose   = true
  }
  port "mail" {
    number = 25
    expose = true
  }
  workload "w" {
    kind  = "Deployment"
    image = "mixed"
    ports = ["web", "dns", "mail"]
    ready {
      http = "/"
      port = "web"
    }
  }
}

definition "web" {
  port "web" {
    number = 8080
    expose = true
  }
  port "vnc" {
    number = 6080
    expose = true
  }
  workload "w" {
    kind  = "Deployment"
    image = "web"
    ports = ["web"]
    ready {
      http = "/"
      port = "web"
    }
  }
  workload "v" {
    kind  = "Deployment"
    image = "web"
    ports = ["vnc"]
    ready {
      http = "/"
      port = "vnc"
    }
  }
}

service "mixed" {
  expose = exposure.one
}

service "web" {
  expose = exposure.one

  port "vnc" {
    public    = 6081
    node_port = 30080
  }
}

# The name of the port vnc of service web.
service "web-vnc" {
  definition = "web"
  expose     = exposure.same
}

service "third" {
  definition = "web"
  expose     = exposure.other
}
