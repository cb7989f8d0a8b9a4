cloud "test" {
  release = "2025.1"
}

# Longer than what the cluster gives.
definition "long" {
  port "main" {
    number = 1
  }
  workload "w" {
    kind  = "Deployment"
    image = "long"
    ports = ["main"]
    drain = 30
  }
}

# The default is too long here.
definition "hasty" {
  port "main" {
    number = 2
  }
  workload "w" {
    kind         = "Deployment"
    image        = "hasty"
    ports        = ["main"]
    grace_period = 5
  }
}

definition "good" {
  port "main" {
    number = 3
  }
  workload "w" {
    kind         = "Deployment"
    image        = "good"
    ports        = ["main"]
    grace_period = 20
    drain        = 10
  }
}

service "long" {}

service "hasty" {}

service "good" {}

service "overridden" {
  definition = "good"
  workload "w" {
    grace_period = 10
  }
}

service "drained" {
  definition = "good"
  workload "w" {
    drain = 25
  }
}

service "both" {
  definition = "good"
  workload "w" {
    grace_period = 60
    drain        = 25
  }
}

service "negative" {
  definition = "good"
  workload "w" {
    drain = -1
  }
}
