cloud "test" {
  release = "2025.1"
}

definition "d" {
  workload "web" {
    kind  = "Deployment"
    image = "d"

    # Its pods come and go.
    carries {
      what    = "sessions"
      command = ["sessions"]
    }

    # And they keep nothing.
    backup {
      what      = "sessions"
      container = "saver"
      save      = []
      stage     = ["load"]
      restore   = ["use"]
    }
  }

  workload "agent" {
    kind  = "DaemonSet"
    image = "d"

    # No such sidecar, and nothing to run.
    carries {
      what      = "guests"
      container = "guest"
      command   = []
    }

    # No word on what it takes away.
    leave {
      command = ["clean"]
      timeout = 0
    }

    sidecar "guests" {
      image = "d"
    }
  }
}

service "d" {}
