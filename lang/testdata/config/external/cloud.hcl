# Servers that are there already, in the place of services.
cloud "external" {
  release = "2025.1"
}

variable "root_password" {
  sensitive = true
  default   = "not-a-real-one"
}

variable "own_cache" {
  default = true
}

# With the administrator's password kolla makes the databases.
service "mariadb" {
  external = { host = "db.example.org", port = 3307 }

  secret "root" {
    value = var.root_password
  }
}

# null: it is deployed after all.
service "memcached" {
  external = var.own_cache ? null : { host = "cache.example.org" }
}

# The definition's secret, and an output that is another there.
definition "queue" {
  port "amqp" {
    number = 5672
  }

  secret "password" {}
  secret "cookie" {}
  secret "admin" {}

  output "transport_url" {
    value = "rabbit://openstack:${secret.password.value}@${self.host}:${port.amqp}//"
  }

  output "replicas_wanted" {
    value = self.external ? 0 : 3
  }

  output "admin" {
    value = secret.admin.value
  }

  output "console" {
    value = "https://${self.address}/${secret.cookie.value}"
  }
}

service "queue" {
  external = { host = "192.0.2.10", admin = null, console = "https://mq.example.org" }

  secret "password" {
    from_secret = { name = "mq", namespace = "infra", key = "password" }
  }
}

# Without the administrator's password the database is there, and its user.
service "galera" {
  definition = "mariadb"
  external   = { host = "galera.example.org" }
}

definition "client" {
  database "client" {
    server = "galera"
  }

  config "client.conf" {
    path        = "/etc/client.conf"
    secret_path = "/etc/client.conf.d/secrets.conf"
    values = {
      DEFAULT = {
        database = database.client.url
        queue    = service.queue.transport_url
        console  = service.queue.console
        wanted   = service.queue.replicas_wanted
        ldap     = service.ldap.url
        base     = service.ldap.base
      }
    }
  }
}

service "client" {
  secret "db-client" {
    from_env = "CLIENT_DB_PASSWORD"
  }
}

# With no definition it says all that others read.
service "ldap" {
  external = { host = "ldap.example.org", port = 636, public_url = null, url = "ldaps://ldap.example.org", base = "dc=example" }
}

service "keystone" {
  external = var.own_cache ? null : { host = "keystone.example.org" }
}

output "addresses" {
  value = [service.mariadb.address, service.queue.address, service.ldap.public_url, service.memcached.external]
}
