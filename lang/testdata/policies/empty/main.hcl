cloud "c" {
  release = "2025.1"
}
