cloud "test" {
  release = "2025.1"
}

variable "token" {
  sensitive = true
  default   = "hunter2-is-secret"
}

variable "plain" {
  default = "one"
}

service "mariadb" {}
service "memcached" {}

service "keystone" {
  images = { keystone = "example.org/${var.token}" }
  config "keystone.conf" {
    values = {
      upper     = { a = upper(secret.admin.value) }
      encoded   = { a = base64encode("x:${secret.admin.value}") }
      compared  = { a = secret.admin.value == "x" }
      condition = { a = secret.admin.value == "x" ? "yes" : "no" }
      chosen    = { a = var.plain == "one" ? "none" : secret.admin.value }
      open      = { a = nonsensitive(secret.admin.value) }
      part      = { a = format("%.10s", secret.admin.value) }
      key       = { a = { (secret.admin.value) = 1 } }
      names     = { (var.token) = 1 }
      fernet    = { a = secret.fernet.value }
      reserved  = { a = "\ue000 is fine, \uefe0 is not" }
    }
  }
}

service "keys" {
  definition = "keystone"
  config "keystone.conf" {
    values = {
      (secret.admin.value) = { a = 1 }
    }
  }
}

service "agent" {
  role = role.compute
  workload "agent" {
    env = { TOKEN = var.token }
  }
}

role "compute" {
  nodes  = [var.token]
  labels = { x = service.keystone.admin_password }
}

exposure "public" {
  vip = service.keystone.admin_password
}

definition "own" {
  secret "s" {}
  workload "w" {
    kind    = "Deployment"
    image   = secret.s.value
    command = ["x", secret.s.value]
    args    = [var.token]
    mount "s" {
      path = "/etc/${secret.s.value}"
    }
  }
}

service "own" {}

manifest "config" {
  object = {
    apiVersion = "v1"
    kind       = "ConfigMap"
    metadata   = { name = "x" }
    data       = { password = service.keystone.admin_password, token = var.token }
  }
}

manifest "secret" {
  object = {
    apiVersion = "v1"
    kind       = "Secret"
    metadata   = { name = "x" }
    stringData = { password = service.keystone.admin_password, token = var.token }
  }
}

secret "ca" {
  kind = "x509-ca"
}

manifest "trust" {
  object = {
    apiVersion = "v1"
    kind       = "ConfigMap"
    metadata   = { name = "trust" }
    data       = { both = nonsensitive([secret.ca.certificate, secret.ca.key]) }
  }
}

role "named" {
  nodes = [nonsensitive(secret.ca.certificate)]
}

manifest "bare" {
  object = {
    apiVersion = "v1"
    kind       = "ConfigMap"
    metadata   = { name = "bare" }
    data       = { ca = secret.ca.certificate }
  }
}
