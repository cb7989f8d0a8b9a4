cloud "test" {
  release    = "2025.1"
  config_dir = "./config"
}

service "mariadb" {}
service "memcached" {}
service "keystone" {}

role "compute" {
  nodes = ["a"]
}

service "agent" {}
