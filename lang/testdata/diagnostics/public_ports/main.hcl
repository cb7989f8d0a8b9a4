cloud "test" {
  release = "2025.1"
}

exposure "first" {
  vip = "2001:db8::10"
}

# The same address, written otherwise.
exposure "second" {
  vip = "2001:0db8:0:0::10"
}

exposure "other" {
  vip = "2001:db8::11"
}

definition "web" {
  port "web" {
    number = 8080
    expose = true
  }
  port "inside" {
    number = 9090
  }
  workload "w" {
    kind  = "Deployment"
    image = "web"
    ports = ["web", "inside"]
  }
}

service "a" {
  definition = "web"
  expose     = exposure.first
}

service "b" {
  definition = "web"
  expose     = exposure.second
}

service "c" {
  definition = "web"
  expose     = exposure.other
}

service "d" {
  definition = "web"
}
