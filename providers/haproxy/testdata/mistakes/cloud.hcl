cloud "mistaken" {
  release = "2025.1"
}

# The tests count lines.
role "edge" {
  nodes = ["n1", "n2"]
}

exposure "public" {
  vip   = "192.0.2.10"
  nodes = role.edge
}
service "web" {
  expose = exposure.public
}

definition "web" {
  port "web" {
    number    = 80
    expose    = true
    node_port = 30080
  }

  workload "w" {
    kind  = "Deployment"
    image = "web"
    ports = ["web"]
  }
}
