cloud "test" {
  release = "2025.1"
}

definition "good" {
  job "sync" {
    runs  = "release"
    image = "good"
  }
}

service "good" {
  job "sync" {
    runs = "always"
  }
}
