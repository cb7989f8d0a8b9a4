cloud "c" {
  release = "2025.1"

  logging {
    target "a" {
      url = "http://a.example.org:9200"
    }
  }
}

service "logging" {
  definition = "memcached"
}
