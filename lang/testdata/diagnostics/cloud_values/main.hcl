cloud "Prod_Cloud" {
  release      = "2025.3"
  distro       = "rocky 9"
  registry     = ["quay.io"]
  namespace    = "Open Stack"
  pull_secrets = ["quay", null]
  region       = null
}

# What depends on the release is not reported again.
definition "worker" {
  locals {
    new = cloud.release >= 2025.2
  }

  workload "worker" {
    kind    = "Deployment"
    image   = "worker"
    command = local.new ? ["worker"] : ["old-worker"]
  }

  workload "helper" {
    enabled = local.new
    kind    = "Deployment"
    image   = "worker"
  }
}

service "worker" {}
