cloud "test" {
  release = "2025.1
}
