cloud "Prod_Cloud" {
  release      = "2025.3"
  distro       = "rocky 9"
  registry     = ["quay.io"]
  namespace    = "Open Stack"
  pull_secrets = ["quay", null]
  region       = null
}
