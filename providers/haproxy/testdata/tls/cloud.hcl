# An exposure with TLS: an API, a page for browsers at the port of HTTPS, a protocol without HTTP, and
# a port that encrypts itself.
cloud "tls" {
  release = "2025.1"
}

exposure "outside" {
  vip  = "192.0.2.10"
  fqdn = "cloud.example.org"

  tls {}
}

service "web" {
  expose = exposure.outside
}

definition "web" {
  port "ui" {
    number    = 8443
    public    = 443
    expose    = true
    node_port = 30443
  }

  workload "w" {
    kind  = "Deployment"
    image = "web"
    ports = ["ui"]
    ready {
      http = "/ready"
      port = "ui"
    }
  }
}

service "api" {
  definition = "web"
  expose     = exposure.outside

  port "ui" {
    number    = 5000
    public    = 5000
    node_port = 30500
  }
}

service "tunnel" {
  expose = exposure.outside
}

definition "tunnel" {
  port "wire" {
    number    = 5100
    expose    = true
    node_port = 30100
  }

  port "own-tls" {
    number    = 5200
    expose    = true
    tls       = false
    node_port = 30200
  }

  workload "w" {
    kind  = "DaemonSet"
    image = "tunnel"
    ports = ["wire", "own-tls"]
    ready {
      tcp = "wire"
    }
  }
}
