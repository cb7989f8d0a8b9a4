# Logs of a cloud go to its own OpenSearch, and to other stores.
variable "release" {
  type    = string
  default = "2025.1"
}

variable "distro" {
  type    = string
  default = null
}

cloud "logs" {
  release = var.release
  distro  = var.distro

  defaults {
    role = role.control
  }

  logging {
    target "here" {
      url = service.opensearch.url
    }

    target "archive" {
      type     = "elasticsearch"
      url      = "https://archive.example.org:9200"
      index    = "cloud"
      username = "kolla"
      password = secret.archive.value
      ca       = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"
    }

    target "loki" {
      type = "loki"
      url  = "http://loki.example.org:3100"
    }
  }
}

secret "archive" {}

role "control" {
  nodes = ["ctl-1", "ctl-2", "ctl-3"]
}

exposure "public" {
  vip = "192.0.2.1"
}

service "mariadb" {}
service "memcached" {}
service "keystone" {}

service "opensearch" {
  replicas       = 3
  heap           = "2g"
  retention_days = 14
}

service "opensearch-dashboards" {
  expose = exposure.public
}
