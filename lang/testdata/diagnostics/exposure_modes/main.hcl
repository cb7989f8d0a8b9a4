cloud "test" {
  release = "2025.1"
}

role "control" {
  nodes = ["a"]
}

exposure "public" {
  vip         = "192.0.2.10"
  mode        = "loadbalancer"
  nodes       = role.control
  node_ports  = "30000-32767"
  class       = "metallb.io/metallb"
  annotations = { "metallb.io/allow-shared-ip" = "public", "kolla.openstack.org/public" = "192.0.2.11" }
}

exposure "inside" {
  vip         = "192.0.2.20"
  class       = "not a class"
  annotations = { "metallb.io/allow-shared-ip" = "inside" }
}

definition "d" {
  port "api" {
    number = 80
    expose = true
  }
  workload "w" {
    kind  = "Deployment"
    image = "d"
    ports = ["api"]
  }
}

service "d" {
  expose = exposure.public

  port "api" {
    node_port = 30080
  }
}

service "e" {
  definition = "d"
  expose     = exposure.inside
}
