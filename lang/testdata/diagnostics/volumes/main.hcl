cloud "test" {
  release = "2025.1"
}

definition "d" {
  config "a.conf" {
    path   = "/etc/a.conf"
    values = { DEFAULT = { a = 1 } }
  }

  workload "w" {
    kind     = "StatefulSet"
    image    = "d"
    config   = ["a.conf"]
    writable = ["/var/lib/d"]

    claim "data" {
      path = "/data"
      size = "1Gi"
    }

    volume "neither" {
      path = "/a"
    }

    volume "several" {
      host   = "/b"
      memory = "1Mi"
    }

    volume "nowhere" {
      memory = "1Mi"
    }

    volume "in-memory" {
      memory      = "1Mi"
      path        = "/c"
      create      = true
      propagation = "in"
    }

    volume "device" {
      host   = "/dev/net/tun"
      type   = "device"
      create = true
    }

    volume "odd" {
      host        = "run"
      type        = "folder"
      propagation = "out"
    }

    volume "size" {
      shared = "much"
      path   = "/e"
    }

    # Each where something else is.
    volume "file" {
      host = "/etc/a.conf"
      type = "file"
    }

    volume "writable" {
      host = "/var/lib/d/"
    }

    volume "claimed" {
      host = "/srv/data"
      path = "/data"
    }

    volume "first" {
      host = "/run"
    }

    volume "second" {
      host = "/srv/run"
      path = "/run"
    }

    init "prepare" {
      command = ["a"]

      volume "first" {
        host = "/srv/first"
      }

      volume "mine" {
        host = "/srv/mine"
        path = "/data"
      }
    }

    sidecar "side" {
      image    = "e"
      writable = ["/run"]

      volume "data" {
        host = "/data"
      }
    }
  }
}

service "d" {
  workload "w" {
    # It was a path of the node, and path followed from it.
    volume "first" {
      shared = "1Mi"
    }

    volume "secnd" {
      read_only = true
    }
  }
}
