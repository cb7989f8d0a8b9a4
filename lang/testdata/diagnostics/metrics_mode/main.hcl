# A mode of another program, and a block that lets nobody in.
cloud "prod" {
  release = "2025.1"

  metrics {
    mode   = "annotations"
    labels = { "-" = "a" }

    allow "nobody" {}
  }
}

service "memcached" {}
