cloud "later" {
  release = "2025.1"
}

data "registry" {
  kind = "ConfigMap"
  name = "registry"
}

data "credentials" {
  kind = "Secret"
  name = "credentials"
}

secret "shared" {
  value = data.credentials.object.data["shared"]
}

service "app" {
  config "app.conf" {
    values = {
      DEFAULT = {
        host     = data.registry.object.data["host"]
        password = data.credentials.object.data["password"]
        token    = "x-${data.credentials.object.data["token"]}"
      }
    }
  }

  workload "server" {
    env = {
      HOST   = data.registry.object.data["host"]
      SECRET = data.credentials.object.data["password"]
    }
  }
}

manifest "copy" {
  object = {
    apiVersion = "v1"
    kind       = "Secret"
    metadata   = { name = "copy" }
    data       = { key = base64encode(data.credentials.object.data["password"]) }
  }
}

manifest "whole" {
  object = {
    apiVersion = "v1"
    kind       = "Secret"
    metadata   = { name = "whole" }
    stringData = data.credentials.object.data
  }
}

definition "app" {
  secret "token" {}

  config "app.conf" {
    path        = "/etc/app/app.conf"
    secret_path = "/etc/app/app.conf.d/secret.conf"
    values      = { DEFAULT = { debug = false, own = secret.token.value } }
  }

  config "known.conf" {
    path   = "/etc/app/known.conf"
    values = { DEFAULT = { debug = false } }
  }

  job "prepare" {
    image   = "app"
    config  = ["app.conf"]
    command = ["prepare"]
  }

  job "known" {
    image   = "app"
    config  = ["known.conf"]
    command = ["prepare"]
  }

  workload "server" {
    kind    = "Deployment"
    image   = "app"
    user    = 42400
    config  = ["app.conf", "known.conf"]
    command = ["app"]
  }

  workload "reader" {
    kind    = "Deployment"
    image   = "app"
    user    = 42400
    env     = { SHARED = secret.shared.value }
    command = ["app"]
  }

  workload "other" {
    kind    = "Deployment"
    image   = "app"
    user    = 42400
    config  = ["known.conf"]
    command = ["app"]
  }
}
