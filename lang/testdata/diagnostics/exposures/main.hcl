cloud "test" {
  release = "2025.1"
}

role "compute" {
  nodes = ["a"]
}

exposure "public" {
  vip        = "192.0.2"
  fqdn       = "Cloud.example.org"
  mode       = "nodport"
  nodes      = "compute"
  node_ports = "32767-30000"
}

exposure "later" {
  vip  = "192.0.2.10"
  mode = "manual"
}

exposure "none" {
}
