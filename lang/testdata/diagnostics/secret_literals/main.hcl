cloud "test" {
  release = "2025.1"

  defaults {
    config "*.conf" {
      values = {
        oslo_messaging_notifications = { transport_url = "rabbit://nova:hunter2@rabbit:5672/" }
      }
    }
  }
}

variable "plain" {
  default = "hunter2-in-a-default"
}

variable "kept" {
  sensitive = true
  default   = "hunter2-is-secret"
}

secret "literal" {
  value = "hunter2"
}

secret "plain" {
  value = var.plain
}

secret "kept" {
  value = var.kept
}

secret "generated" {}

definition "web" {
  config "web.conf" {
    path = "/etc/web.conf"
    values = {
      DEFAULT = { admin_password = "hunter2", debug = false }
    }
  }

  workload "api" {
    kind   = "Deployment"
    image  = "web"
    config = ["web.conf"]
    env    = { DB_PASSWORD = "hunter2", ALLOW_EMPTY_PASSWORD = "yes" }
  }
}

service "web" {
  config "web.conf" {
    values = {
      auth = {
        password              = var.plain
        memcache_secret_key   = "not-in-the-list"
        reset_password        = true
        password_file         = "/etc/web/password"
        user_password         = secret.generated.value
        client_secret         = var.kept
        nested_password       = "prefix-${secret.kept.value}"
        random_password       = "$other"
        url                   = "https://web.example.org:8443/a@b"
        metadata_shared_secret = "hunter2"
      }
    }
  }
}

manifest "secret" {
  object = {
    apiVersion = "v1"
    kind       = "Secret"
    metadata   = { name = "written-out" }
    stringData = { password = "hunter2", other = cloud.name, empty = "" }
  }
}
