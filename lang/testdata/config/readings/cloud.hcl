# What is read of blocks stands where its form is checked.
cloud "site" {
  release   = "2025.1"
  namespace = "cloud"
}

role "edge" {
  nodes = ["n1", "n2"]
}

exposure "outside" {
  vip        = "192.0.2.10"
  fqdn       = "cloud.example.org"
  node_ports = "30000-30100"
}

definition "web" {
  port "http" {
    number = 8080
    expose = true
  }

  dynamic "port" {
    for_each = ["metrics"]
    labels   = [port.value]

    content {
      number = 9000
    }
  }

  dynamic "output" {
    for_each = { metrics = "metrics.example.org" }
    labels   = [output.key]

    content {
      value = output.value
    }
  }

  secret "ca" {
    kind          = "x509-ca"
    validity_days = 400
    renew_before  = 390
  }

  workload "server" {
    kind         = "Deployment"
    image        = "web"
    user         = 42400
    ports        = ["http", "metrics"]
    replicas     = 2
    drain        = 40
    grace_period = 60

    env = { CA = secret.ca.certificate, METRICS = port.metrics }

    ready {
      tcp = "metrics"
    }

    resources {
      requests = { cpu = "100m" }
    }
  }
}

service "web" {
  expose = exposure.outside
  role   = role.edge

  images = { web = "registry.example.org/web:1" }

  port "http" {
    node_port = 30080
  }

  workload "server" {
    host_network = true
  }
}

secret "authority" {
  kind = "x509-ca"
}

secret "tls" {
  kind         = "x509"
  ca           = secret.authority
  dns_names    = [service.web.host, split(":", service.web.address)[0], service.web.metrics]
  ip_addresses = [exposure.outside.vip]
}

secret "copied" {
  kind        = "x509-ca"
  from_secret = { name = "copied" }
}

secret "rotating" {
  kind = "fernet"
  keys = service.web.replicas
}

data "addresses" {
  kind      = "ConfigMap"
  name      = split(".", service.web.host)[0]
  namespace = service.web.namespace
}

manifest "note" {
  object = {
    apiVersion = "v1"
    kind       = "ConfigMap"
    metadata   = { name = "port-${service.web.port}", namespace = service.web.namespace }
    data       = { url = service.web.public_url, inside = service.web.url }
  }
}
