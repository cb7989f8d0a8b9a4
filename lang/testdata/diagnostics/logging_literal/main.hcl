variable "mode" {
  default = "node"
}

cloud "c" {
  release = "2025.1"

  logging {
    mode   = var.mode
    volume = "${var.mode}Mi"

    target "a" {
      url = "http://a.example.org:9200"
    }
  }
}
