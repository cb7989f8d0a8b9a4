cloud "test" {
  release = "2025.1"
}

definition "portal" {
  secret "licence" {
    given  = true
    length = 12
  }

  secret "tls" {
    kind  = "x509"
    given = true
  }

  secret "session" {
    given = self.name != "inner"
  }

  workload "web" {
    kind  = "Deployment"
    image = "portal"
    env   = { LICENCE = secret.licence.value, SESSION = secret.session.value }

    mount "tls" {
      path = "/etc/tls"
    }
  }
}

service "portal" {
  secret "session" {
    from_env = "SESSION"
  }
}

service "inner" {
  definition = "portal"

  secret "licence" {
    from_file = "licence.txt"
  }

  secret "tls" {
    given = "yes"
  }
}
