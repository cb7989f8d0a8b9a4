cloud "test" {
  release = "2027.1"
}
