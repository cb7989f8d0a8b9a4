cloud "prod" {
  release        = "2025.1"
  network_policy = "no"
}

service "memcached" {
  allow "nobody" {}

  allow "everything" {
    pods = {}
  }

  allow "strange" {
    namespace = "Monitoring"
    ports     = ["memcach", "70000", "11211"]
    cidrs     = ["192.0.2.1/24", "192.0.2.0"]
  }
}
