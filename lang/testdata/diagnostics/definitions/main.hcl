cloud "test" {
  release = "2025.1"
}

service "own" {}

definition "own" {
  port "first" {
    number = 80
  }

  port "second" {
    number = 80
  }

  port "Third" {
    number = 99999
  }

  secret "db-x" {
    kind = "pasword"
  }

  secret "short" {
    length = 3
  }

  database "data-base" {
    server = var.server
  }

  database "other" {
    server = "mariadb"
  }

  config "raw" {
    format = "raw"
    path   = "etc/raw"
  }

  config "own.conf" {
    format  = "yaml"
    path    = "/etc/../own.conf"
    content = "x"
  }

  job "j" {
    image  = "own"
    when   = "during"
    config = ["own.cnf", "raw", "raw"]
    ports  = ["first"]
  }

  workload "w" {
    kind         = "Deploiment"
    image        = ""
    ports        = ["frist"]
    max_replicas = 2
    replicas     = 3
    user         = "keystone"

    mount "shrt" {
      path = "/x"
    }

    claim "data" {
      path = "/data"
      size = "10 gigabytes"
    }

    ready {
      http = "v3"
    }

    live {
      tcp  = "second"
      exec = ["true"]
    }

    startup {
      tcp  = "first"
      port = "first"
    }
  }

  workload "x" {
    kind  = "Deployment"
    image = "own"
    ports = ["first"]

    init "i" {
    }

    ready {
      http = "/"
    }

    live {}
  }

  endpoint "identity" {
    port = "public"
  }

  output "host" {
    value = 1
  }

  provides "queue" {
    url = "x"
  }
}

service "mariadb" {
  definition = "memcached"
}

definition "long" {
  workload "a-rather-long-name-of-a-workload" {
    kind  = "Deployment"
    image = "x"
  }
}

service "long-name-of-a-service" {
  definition = "long"
}

service "a-name-that-has-more-than-forty-characters" {
  definition = "memcached"
}

variable "server" {
  default = "mariadb"
}
