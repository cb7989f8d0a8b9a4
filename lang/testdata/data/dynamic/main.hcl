# What is known later stays so in the content of dynamic blocks, in loops and in
# conditions; and what is sensitive stays sensitive.

cloud "prod" {
  release = "2025.1"
}

manifest "registry" {
  object = {
    apiVersion = "v1"
    kind       = "ConfigMap"
    metadata   = { name = "later" }
    data       = { host = "h", port = "5" }
  }
}

data "registry" {
  kind       = "ConfigMap"
  name       = "later"
  depends_on = [manifest.registry]
}

data "secret" {
  kind       = "Secret"
  name       = "later"
  depends_on = [manifest.registry]
}

definition "app" {
  config "app.conf" {
    path        = "/etc/app.conf"
    secret_path = "/etc/secret.conf"
  }

  workload "main" {
    kind   = "Deployment"
    image  = "app"
    user   = 42400
    config = ["app.conf"]
  }
}

service "app" {
  dynamic "config" {
    for_each = [data.registry.object.data]
    iterator = it
    labels   = ["app.conf"]

    content {
      values = {
        DEFAULT = {
          ports  = [for k, v in it.value : v]
          loop   = "%{for k, v in it.value}${k}%{endfor}"
          not    = !try(it.value.on, true)
          index  = { a = 1 }[it.value.key]
          secret = join(",", [for k, v in data.secret.object.data : v])
        }
      }
    }
  }
}
