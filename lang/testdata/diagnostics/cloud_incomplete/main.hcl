cloud "test" {
  defaults {
    config "[" {
    }
    config "*.yaml" {
      values = { a = 1 }
    }
  }
}
