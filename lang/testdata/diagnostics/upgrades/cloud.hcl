cloud "dev" {
  release = "2025.1"
}

definition "status" {
  stage = "expand"

  job "check" {
    when  = "check"
    runs  = "once"
    image = "status"
  }

  workload "web" {
    kind    = "Deployment"
    image   = "status"
    follows = ["agents"]

    data_version {
      program = "Status"
      version = "2"
    }
  }
}

definition "agent" {
  workload "agent" {
    kind  = "DaemonSet"
    image = "agent"
  }
}

service "status" {}

service "agent" {}
