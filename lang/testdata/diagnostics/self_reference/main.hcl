cloud "test" {
  release = "2025.1"
}

definition "own" {
  port "p" {
    number = 1
  }
  database "own" {
    server = "own"
  }
  workload "w" {
    kind  = "Deployment"
    image = "own"
  }
}

service "own" {
  replicas   = service.own.replicas
  depends_on = [service.own]
  workload "w" {
    env = { OWN = service.own.name }
  }
}
