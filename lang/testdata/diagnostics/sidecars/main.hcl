cloud "test" {
  release = "2025.1"
}

definition "d" {
  port "http" {
    number = 80
  }

  port "metrics" {
    number = 9100
  }

  config "a.conf" {
    path   = "/etc/a.conf"
    values = { DEFAULT = { a = 1 } }
  }

  config "b.conf" {
    path   = "/etc/a.conf"
    values = { DEFAULT = { b = 1 } }
  }

  workload "w" {
    kind   = "Deployment"
    image  = "d"
    ports  = ["http"]
    config = ["a.conf"]

    ready {
      tcp = "metrics"
    }

    # The name of the main container.
    init "w" {
      command = ["a"]
    }

    init "twice" {
      command = ["a"]
      config  = ["b.conf"]
    }

    sidecar "twice" {
      image = "e"
    }

    # The port of another container, and a probe of one that it does not have.
    sidecar "side" {
      image = "e"
      ports = ["http", "metrics"]

      ready {
        tcp = "http"
      }
    }

    sidecar "nothing" {
      comand = ["a"]
    }
  }
}

service "d" {
  workload "w" {
    sidecar "sid" {
      command = ["other"]
    }
  }
}
