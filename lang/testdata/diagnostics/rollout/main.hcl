cloud "test" {
  release = "2025.1"
}

definition "d" {
  workload "a" {
    kind            = "Deployment"
    image           = "d"
    after           = ["c", "nobody"]
    order           = "one-by-one"
    max_unavailable = 0
    surge           = "0%"
    scale_down      = "It cannot."
    own_addresses   = true
  }

  workload "b" {
    kind            = "StatefulSet"
    image           = "d"
    after           = ["a"]
    max_unavailable = 2
    order           = "random"
  }

  workload "c" {
    kind  = "StatefulSet"
    image = "d"
    after = ["b"]
    surge = 1
  }

  workload "d" {
    kind   = "DaemonSet"
    image  = "d"
    after  = ["a"]
    update = "on-delete"
    surge  = 1
  }

  workload "e" {
    kind            = "DaemonSet"
    image           = "d"
    update          = "on-delete"
    max_unavailable = 0
  }

  workload "f" {
    kind            = "DaemonSet"
    image           = "d"
    rollout_first   = true
    max_unavailable = 1
    surge           = 1
  }

  workload "g" {
    kind            = "DaemonSet"
    image           = "d"
    host_network    = true
    max_unavailable = 0
    surge           = 1
  }

  workload "h" {
    kind            = "Deployment"
    image           = "d"
    max_unavailable = "many"
    surge           = "120%"
  }
}

service "d" {
  workload "h" {
    after = ["h"]
  }
}
