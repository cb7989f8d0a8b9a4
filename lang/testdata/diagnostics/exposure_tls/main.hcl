cloud "test" {
  release = "2025.1"
}

secret "password" {}

secret "exposure-taken" {}

exposure "balanced" {
  vip  = "192.0.2.10"
  mode = "loadbalancer"

  tls {}
}

exposure "given" {
  vip = "192.0.2.11"

  tls {
    secret_name      = "given"
    certificate_file = "given.crt"
    dns_names        = ["given.example.org"]
  }
}

exposure "half" {
  vip = "192.0.2.12"

  tls {
    certificate_file = "half.crt"
    validity_days    = 90
  }
}

exposure "keyless" {
  vip = "192.0.2.13"

  tls {
    ca_file = "ca.crt"
  }
}

exposure "unsigned" {
  vip = "192.0.2.14"

  tls {
    ca = secret.password
  }
}

exposure "always" {
  vip = "192.0.2.15"

  tls {
    validity_days = 30
    algorithm     = "dsa"
    hsts_max_age  = -1
    dns_names     = ["not a name"]
  }
}

exposure "taken" {
  vip = "192.0.2.16"

  tls {}
}

exposure "twice" {
  vip = "192.0.2.17"

  tls {}
  tls {}
}
