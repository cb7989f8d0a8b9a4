cloud "test" {
  release    = "2025.1"
  config_dir = "./config"
}
