# Secrets of every kind and from every source.
cloud "site" {
  namespace = "openstack"
  release   = "2025.1"
}

variable "license" {
  sensitive = true
  default   = "from-a-variable"
}

secret "root" {
  kind        = "x509-ca"
  common_name = "Cloud CA"
  lifecycle {
    prevent_destroy = true
  }
}

secret "corporate" {
  kind        = "x509-ca"
  from_secret = { name = "pki", namespace = "pki" }
}

secret "license" {
  value = var.license
}

secret "token" {
  kind       = "hex"
  depends_on = [service.web]
}

secret "brought" {
  from_secret = { name = "brought", key = "password" }
  depends_on  = [manifest.bringer]
}

manifest "bringer" {
  object = {
    apiVersion = "example.org/v1"
    kind       = "ExternalSecret"
    metadata   = { name = "brought" }
    spec       = { target = secret.root.name }
  }
}

definition "web" {
  port "web" {
    number = 8443
  }

  secret "admin" {}

  secret "tls" {
    kind      = "x509"
    ca        = secret.root
    dns_names = [self.host]
    usages    = ["server", "client"]
  }

  secret "outer" {
    kind         = "x509"
    ca           = secret.corporate
    ip_addresses = ["192.0.2.1"]
  }

  secret "login" {
    kind = "ssh"
  }

  workload "api" {
    kind  = "Deployment"
    image = "web"
    user  = 1000
    ports = ["web"]
    env   = { PASSWORD = secret.admin.value, LICENSE = secret.license.value, BROUGHT = secret.brought.value }

    mount "tls" {
      path = "/etc/web/tls"
    }

    mount "corporate" {
      path = "/etc/web/corporate"
    }
  }
}

service "web" {
  secret "admin" {
    from_env = "ADMIN_PASSWORD"
  }
}

# A certificate of the catalogue's own names is not asked for: the same names are of
# the definition first.
definition "other" {
  secret "root" {}

  workload "api" {
    kind  = "Deployment"
    image = "other"
    user  = 1000
    env   = { PASSWORD = secret.root.value, TOKEN = secret.token.value }
  }
}

service "other" {}
