cloud "test" {
  release = "2025.1"
}

variable "given" {
  sensitive = true
  default   = "hunter2-is-secret"
}

service "mariadb" {}
service "memcached" {}

# What does not fit the kind.
secret "kinds" {
  kind   = "sshh"
  length = 10
  keys   = 3
}

secret "login" {
  kind      = "ssh"
  algorithm = "dsa"
  length    = 20
}

secret "number" {
  kind   = "uuid"
  length = 20
}

# Certificates.
secret "root" {
  kind         = "x509-ca"
  renew_before = 4000
}

secret "orphan" {
  kind      = "x509"
  dns_names = ["a_b", "*.example.org"]
}

secret "signed" {
  kind          = "x509"
  ca            = secret.login
  ip_addresses  = ["192.0.2.300"]
  validity_days = 10
  usages        = ["servr"]
}

secret "nobody" {
  kind = "x509"
  ca   = secret.root.certificate
}

secret "itself" {
  kind   = "x509"
  ca     = secret.itself
  usages = ["client"]
}

# Sources.
secret "two" {
  from_env  = "A"
  from_file = "a.txt"
}

secret "given" {
  value  = var.given
  length = 16
}

secret "nothing" {
  value = ""
}

secret "made" {
  value = "x-${secret.number.value}"
}

secret "pair" {
  kind     = "ssh"
  from_env = "KEY"
}

secret "elsewhere" {
  from_secret = { nam = "x", namespace = "Y" }
}

secret "unnamed" {
  from_secret = { name = "x", namespace = "Y" }
}

secret "several" {
  kind        = "fernet"
  keys        = 2
  from_secret = { name = "keys", key = "0" }
}

secret "good" {
  kind        = "x509-ca"
  from_secret = { name = "corporate", namespace = "pki" }
}

secret "late" {
  from_secret = { name = "late", key = "pw" }
  depends_on  = [manifest.missing]
}

# In services.
service "keystone" {
  secret "admin" {}

  secret "fernet" {
    from_env = "FERNET"
  }

  secret "admim" {
    from_env = "ADMIN"
  }

  secret "db-keystone" {
    value = var.given
  }

  config "keystone.conf" {
    values = {
      ssl = {
        key      = secret.good.key
        password = secret.god.value
        other    = secret.good.value
        cert     = base64encode(secret.good.certificate)
      }
    }
  }
}

definition "own" {
  secret "admin" {
    from_env = "ADMIN"
  }

  secret "tls" {
    kind      = "x509"
    ca        = secret.good
    dns_names = [self.host]
  }

  workload "api" {
    kind  = "Deployment"
    image = secret.number.value

    mount "god" {
      path = "/etc/own/keys"
    }

    mount "good" {
      path = "/etc/own/ca"
    }
  }
}

service "own" {}

secret "nameless" {
  from_secret = { key = "pw" }
}

secret "few" {
  kind   = "fernet"
  keys   = 2
  rotate = 30
}
