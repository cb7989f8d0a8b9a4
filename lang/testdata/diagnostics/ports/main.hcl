cloud "test" {
  release = "2025.1"
}

exposure "outside" {
  vip = "192.0.2.10"
}

definition "d" {
  port "dns" {
    number    = 53
    expose    = true
    node_port = 30053
  }

  # One number and one node port for both protocols.
  port "dns-udp" {
    number    = 53
    protocol  = "udp"
    expose    = true
    node_port = 30053
  }

  port "again" {
    number   = 53
    protocol = "udp"
  }

  port "inside" {
    number = 54
    public = 443
  }

  port "sctp" {
    number   = 55
    protocol = "sctp"
  }

  workload "w" {
    kind  = "Deployment"
    image = "d"
    ports = ["dns", "dns-udp", "inside"]

    startup {
      exec    = ["true"]
      scheme  = "https"
      headers = { A = "b" }
    }

    ready {
      tcp = "dns-udp"
    }

    live {
      http    = "/"
      port    = "dns"
      scheme  = "ftp"
      headers = { "Not a name" = "a", Two = "lines\nof it" }
    }
  }
}

service "d" {
  expose = exposure.outside

  allow "a" {
    ports = ["dns-udp", "99/udp", "70000/udp"]
    cidrs = ["0.0.0.0/0"]
  }
}

# At the number of the other one.
service "e" {
  definition = "f"
  expose     = exposure.outside
}

definition "f" {
  port "main" {
    number    = 1
    expose    = true
    public    = 53
    node_port = 30053
  }

  workload "w" {
    kind  = "Deployment"
    image = "f"
    ports = ["main"]
  }
}
