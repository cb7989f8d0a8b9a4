cloud "test" {
  release = "2025.1"
}

secret "ca" {
  kind = "x509-ca"
}

secret "taken" {
  name = "exposure-taken-tls"
}

exposure "web" {
  domain = "web.example.org"
  mode   = "ingress"

  tls {
    hsts_max_age = 3600
  }
}

exposure "open" {
  domain = "open.example.org"
  mode   = "gateway"

  gateway {
    name = "public"
  }

  tls {}
}

exposure "same" {
  domain = "same.example.org"
  mode   = "gateway"

  gateway {
    name         = "public"
    section      = "https"
    http_section = "https"
  }

  tls {}
}

exposure "plain" {
  domain = "plain.example.org"
  mode   = "gateway"

  gateway {
    name         = "public"
    http_section = "http"
  }
}

exposure "issued" {
  vip = "192.0.2.10"

  tls {
    issuer      = "letsencrypt"
    issuer_kind = "AWSPCAIssuer"
    secret_name = "given"
    ca          = secret.ca
    key_file    = "a.key"
  }
}

exposure "late" {
  vip = "192.0.2.11"

  tls {
    issuer       = "Let's Encrypt"
    renew_before = 90
  }
}

exposure "kind" {
  vip = "192.0.2.12"

  tls {
    issuer_kind = "ClusterIssuer"
  }
}

exposure "taken" {
  vip = "192.0.2.13"

  tls {
    issuer = "letsencrypt"
  }
}

definition "d" {
  port "api" {
    number = 80
    expose = true
    tls    = false
  }
  workload "w" {
    kind  = "Deployment"
    image = "d"
    ports = ["api"]
    ready {
      http = "/"
      port = "api"
    }
  }
}

service "d" {
  expose = exposure.web
}
