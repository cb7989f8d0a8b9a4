cloud "two" {
  release = "2025.2"
}
