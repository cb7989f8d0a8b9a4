cloud "test" {
  release = "2025.1"
}

definition "good" {
  job "sync" {
    runs    = "release"
    image   = "good"
    timeout = 600
  }
}

service "good" {
  job "sync" {
    runs    = "always"
    timeout = 0
  }
}

definition "nodes" {
  job "lost" {
    image = "good"
    nodes = "computes"
  }

  job "own" {
    image = "good"
    nodes = self.role
    env   = { KOLLA_NODES = "a" }
  }

  job "number" {
    image = "good"
    nodes = 5
  }
}

definition "codes" {
  job "none" {
    image            = "good"
    fatal_exit_codes = []
  }

  job "success" {
    image            = "good"
    fatal_exit_codes = [2, 0, 256]
  }

  job "number" {
    image            = "good"
    fatal_exit_codes = 2
  }
}

service "codes" {}

role "compute" {
  nodes = ["a"]
}

service "nodes" {
  job "own" {
    nodes = "compute"
  }
}

service "other" {
  definition = "nodes"

  job "own" {
    nodes = role.nobody
  }
}
