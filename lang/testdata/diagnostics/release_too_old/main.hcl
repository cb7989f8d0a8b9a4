cloud "test" {
  release = "2024.2"
}
