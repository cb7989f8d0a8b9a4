variable "mode" {
  default = "node"
}

cloud "c" {
  release = "2025.1"

  logging {
    mode      = var.mode
    collector = "colector"

    target "a" {
      url = "http://a.example.org:9200"
    }
  }
}

definition "collector" {
  workload "node" {
    kind  = "DaemonSet"
    image = "registry.example.org/collector:1"
  }
}
