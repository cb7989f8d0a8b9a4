cloud "one" {
  release = "2025.1"
}
