cloud "test" {
  release = "2025.1"

  backend "local" {
    namespace = "Not a name"
  }
}
