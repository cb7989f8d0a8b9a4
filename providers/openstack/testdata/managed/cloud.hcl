# HAProxy and keepalived on the nodes of a role, with TLS, in front of an API with a second port that
# stays inside, and of a port without HTTP.
cloud "managed" {
  release = "2025.1"
}

role "edge" {
  nodes  = ["n1", "n2"]
  taints = ["example.org/edge:NoSchedule"]
}

exposure "public" {
  vip   = "192.0.2.10"
  fqdn  = "cloud.example.org"
  mode  = "managed"
  nodes = role.edge

  keepalived {
    interface      = "eth1"
    vrrp_interface = "eth0"
  }

  tls {}
}

definition "api" {
  port "api" {
    number = 5000
    expose = true
  }

  port "admin" {
    number = 5001
  }

  workload "w" {
    kind  = "Deployment"
    image = "api"
    user  = 42400
    ports = ["api", "admin"]
    env   = { URL = self.public_url }

    ready {
      http = "/v3"
      port = "api"
    }
  }
}

definition "wire" {
  port "wire" {
    number = 3306
    expose = true
    tls    = false
  }

  workload "w" {
    kind  = "StatefulSet"
    image = "wire"
    user  = 42400
    ports = ["wire"]
  }
}

service "api" {
  expose = exposure.public
}

service "wire" {
  expose = exposure.public
}
