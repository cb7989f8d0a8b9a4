service "memcached" {}

locals {
  x = 2
}

definition "own" {
  workload "w" {
    kind  = "Deployment"
    image = "w"
    resources {}
    resources {}
  }
}
