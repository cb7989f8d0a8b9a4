cloud "test" {
  release = "2025.1"
}

definition "d" {
  workload "w" {
    kind  = "StatefulSet"
    image = "d"

    claim "both" {
      path     = "/both"
      size     = "1Gi"
      existing = "old"
    }

    claim "odd" {
      path     = "/odd"
      existing = "Not_A_Name"
    }

    claim "neither" {
      path = "/neither"
    }
  }

  workload "many" {
    kind     = "StatefulSet"
    replicas = 2
    image    = "d"

    claim "data" {
      path = "/data"
      size = "1Gi"
    }
  }
}

service "d" {
  workload "many" {
    claim "data" {
      existing = "old"
    }
  }
}
