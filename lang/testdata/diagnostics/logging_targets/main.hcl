cloud "c" {
  release = "2025.1"

  logging {
    collector = "collector"
    image     = "registry.example.org/collector:1"
  }
}

# It has no input for the image.
definition "collector" {
  input "targets" {}

  workload "node" {
    kind  = "DaemonSet"
    image = "registry.example.org/collector:1"
  }
}
