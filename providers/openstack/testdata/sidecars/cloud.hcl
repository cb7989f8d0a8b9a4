# Each pod has a collector.
cloud "logs" {
  release = "2025.1"

  logging {
    mode      = "sidecar"
    collector = "rsyslog"
    image     = "registry.example.org/rsyslog:8"
    buffer    = "128Mi"

    target "here" {
      url = service.opensearch.url
    }

    target "site" {
      type     = "elasticsearch"
      url      = "https://logs.example.org:9200"
      username = "kolla"
      password = secret.site.value
    }
  }
}

secret "site" {}

service "mariadb" {}
service "memcached" {}
service "rabbitmq" {}
service "keystone" {}
service "opensearch" {}
