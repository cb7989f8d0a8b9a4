definition "keystone" {
  description = "Identity"

  port "public" {
    number    = 5000
    expose    = true
    node_port = 30500
  }

  database "keystone" {}

  secret "admin" {}

  secret "fernet" {
    kind  = "fernet"
    count = 2
  }

  config "keystone.conf" {
    path        = "/etc/keystone/keystone.conf"
    secret_path = "/etc/keystone/keystone.conf.d/secrets.conf"
    values = {
      DEFAULT  = { debug = false }
      database = { connection = database.keystone.url }
      cache    = { enabled = true, servers = service.memcached.address }
      token    = { provider = "fernet", expiration = 3600 }
    }
  }

  config "policy.json" {
    format  = "raw"
    path    = "/etc/keystone/policy.json"
    content = jsonencode({ admin = cloud.region })
  }

  job "bootstrap" {
    image  = "keystone"
    config = ["keystone.conf"]
    env    = { PASSWORD = secret.admin.value, URL = self.public_url }
  }

  workload "api" {
    kind   = "Deployment"
    image  = "keystone"
    ports  = ["public"]
    config = ["keystone.conf", "policy.json"]
    env    = { LANG = "C", SECRET = secret.admin.value }

    mount "fernet" {
      path = "/etc/keystone/fernet-keys"
    }

    resources {
      requests = { cpu = "100m", memory = "128Mi" }
    }

    ready {
      http = "/v3"
      port = "public"
    }
  }

  endpoint "identity" {
    port = "public"
    path = "/v3"
  }

  output "admin_password" {
    value = secret.admin.value
  }
}
