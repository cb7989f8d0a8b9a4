cloud "test" {
  release = "2025.1"
}

definition "good" {
  job "sync" {
    runs    = "release"
    image   = "good"
    timeout = 600
  }
}

service "good" {
  job "sync" {
    runs    = "always"
    timeout = 0
  }
}
