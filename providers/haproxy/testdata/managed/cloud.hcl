# HAProxy in the cluster: an API, and a port without HTTP.
cloud "managed" {
  release = "2025.1"

  metrics {
    mode = "services"
  }
}

role "edge" {
  nodes = ["a", "b"]
}

exposure "outside" {
  vip   = "192.0.2.10"
  mode  = "managed"
  nodes = role.edge

  keepalived {
    interface = "eth0"
  }
}

exposure "secure" {
  vip   = "2001:db8::10"
  fqdn  = "cloud.example.org"
  mode  = "managed"
  nodes = role.edge

  keepalived {
    interface         = "eth0"
    virtual_router_id = 52
  }

  tls {}
}

definition "web" {
  port "ui" {
    number = 8080
    public = 443
    expose = true
  }

  port "wire" {
    number = 5100
    expose = true
  }

  workload "w" {
    kind  = "Deployment"
    image = "web"
    ports = ["ui", "wire"]

    ready {
      http = "/ready"
      port = "ui"
    }
  }
}

service "web" {
  expose = exposure.outside
}

service "page" {
  definition = "web"
  expose     = exposure.secure
}
