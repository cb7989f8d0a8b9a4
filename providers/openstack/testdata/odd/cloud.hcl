# Names that collide once they are volumes, ports in another order than declared, and
# pods in the network of their node.
cloud "odd" {
  release = "2025.1"
}

exposure "outside" {
  vip = "192.0.2.1"
}

service "odd" {
  expose = exposure.outside
}

definition "odd" {
  port "a" {
    number = 1001
    expose = true
  }

  port "b" {
    number = 1002
  }

  port "c" {
    number = 1003
    expose = true
  }

  port "d" {
    number = 1004
    expose = true
  }

  secret "my" {}

  config "my.cnf" {
    format      = "ini"
    path        = "/etc/odd/my.cnf"
    secret_path = "/etc/odd/one.d/secrets.conf"
    values      = { odd = { key = secret.my.value, plain = 1 } }
  }

  config "my-cnf" {
    format      = "ini"
    path        = "/etc/odd/my-cnf"
    secret_path = "/etc/odd/two.d/secrets.conf"
    values      = { odd = { key = secret.my.value, plain = 2 } }
  }

  workload "first" {
    kind     = "StatefulSet"
    image    = "odd"
    user     = 42400
    command  = ["odd"]
    ports    = ["b", "a"]
    config   = ["my.cnf", "my-cnf"]
    writable = ["/var/a-b", "/var/a/b"]

    init "prepare" {
      command = ["odd", "prepare"]
      config  = ["my-cnf"]
    }

    sidecar "beside" {
      image    = "odd-beside"
      command  = ["odd", "beside"]
      config   = ["my-cnf"]
      writable = ["/var/a-b", "/var/c"]
    }

    claim "my-cnf" {
      path = "/var/lib/odd"
      size = "1Gi"
    }
  }

  workload "second" {
    kind         = "Deployment"
    image        = "odd"
    user         = 42400
    command      = ["odd"]
    ports        = ["c"]
    host_network = true
  }

  workload "third" {
    kind    = "StatefulSet"
    image   = "odd"
    user    = 42400
    command = ["odd"]
    ports   = ["d"]
  }
}
