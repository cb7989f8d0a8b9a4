cloud "c" {
  release = "2025.1"

  logging {
    mode      = "pods"
    collector = "collector"
    buffer    = "much"
    volume    = "some"

    target "a" {
      type = "kafka"
      url  = "http://a.example.org:9200"
    }

    target "a" {
      url = "http://b.example.org:9200"
    }

    target "nowhere" {}
  }
}

definition "collector" {
  input "targets" {}
  input "buffer" {}

  workload "node" {
    kind  = "DaemonSet"
    image = "registry.example.org/collector:1"
    logs  = "syslog"
  }
}
