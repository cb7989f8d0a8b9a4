cloud "test" {
  release = "2025.1"
}

role "control" {
  nodes = ["node-1"]
}

# Where is it?
service "a" {
  definition = "mariadb"
  external   = { port = 3306 }
}

service "b" {
  definition = "mariadb"
  external   = "db.example.org"
}

# No URL, no port out of range, no key that nobody reads.
service "c" {
  definition = "mariadb"
  external   = { host = "https://db.example.org" }
}

service "d" {
  definition = "mariadb"
  external   = { host = "db.example.org", port = 70000 }
}

service "e" {
  definition = "mariadb"
  external   = { host = "db.example.org", hots = "x", name = "y" }
}

service "f" {
  definition = "mariadb"
  external   = { host = "db.example.org", url = "" }
}

service "i" {
  definition = "mariadb"
  external   = { host = "2001:db8::1" }
}

# Nothing is deployed, so that nothing can be said of that.
service "g" {
  definition = "mariadb"
  external   = { host = "db.example.org" }
  role       = role.control
  replicas   = 3

  config "my.cnf" {
    values = { mysqld = { port = 1 } }
  }

  workload "server" {
    replicas = 1
  }
}

# The password of its users is not known.
definition "queue" {
  port "amqp" {
    number = 5672
  }

  secret "password" {}
  secret "cookie" {}

  output "transport_url" {
    value = "rabbit://openstack:${secret.password.value}@${self.host}:${port.amqp}//"
  }

  provides "database" {
    url = "queue://${self.host}"

    job "create" {
      image = "queue"
      env   = { COOKIE = secret.cookie.value }
    }
  }
}

service "queue" {
  external = { host = "mq.example.org" }
}

# Neither the administrator's password nor the user's.
definition "user" {
  database "user" {
    server = "queue"
  }
}

service "user" {}

# Nobody knows whether it is external.
data "settings" {
  kind = "ConfigMap"
  name = "settings"
}

service "h" {
  definition = "mariadb"
  external   = data.settings.exists ? { host = "db.example.org" } : null
}

# Whoever needs what is wrong, is not complained about as well.
definition "consumer" {
  database "a" {
    server = "a"
  }

  database "b" {
    server = "b"
  }

  database "c" {
    server = "c"
  }

  database "h" {
    server = "h"
  }

  config "consumer.conf" {
    path        = "/etc/consumer.conf"
    secret_path = "/etc/consumer.conf.d/secrets.conf"
    values = {
      DEFAULT = {
        a = database.a.url
        b = database.b.url
        c = database.c.url
        d = service.d.url
        h = database.h.url
        k = service.k.base
      }
    }
  }
}

service "consumer" {}

# Where a condition decides, the place is that of what is wrong.
service "j" {
  definition = "mariadb"
  external   = cloud.name == "other" ? null : { host = "db.example.org/" }
}

# What nobody is to read is not there.
service "k" {
  external = { host = "ldap.example.org", base = null }
}
