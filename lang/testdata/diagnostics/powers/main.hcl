cloud "test" {
  release = "2025.1"
}

definition "d" {
  job "j" {
    image        = "d"
    user         = 1000
    capabilities = ["NET_ADMIN"] # which no other user than root gets
  }

  workload "w" {
    kind         = "DaemonSet"
    image        = "d"
    user         = 0
    capabilities = ["CAP_NET_ADMIN", "net_raw", "NET_ADMN", "FLY", "CHOWN"]
    seccomp      = "none"
    apparmor     = "localhost/"
    selinux      = "a b"
    host_pid     = "maybe"

    # Nobody who has it is privileged.
    volume "run" {
      host        = "/run"
      propagation = "both"
    }

    init "a" {
      command      = ["a"]
      user         = 1000
      capabilities = ["CHOWN"]
    }

    # It runs as root, as its workload.
    init "b" {
      command      = ["b"]
      capabilities = ["CHOWN"]
    }

    sidecar "c" {
      image    = "c"
      host_pid = true

      volume "netns" {
        host        = "/run/netns"
        propagation = "both"
      }
    }
  }

  workload "v" {
    kind  = "DaemonSet"
    image = "d"
    user  = 1000

    # One of them is.
    volume "run" {
      host        = "/run"
      propagation = "both"
    }

    init "root" {
      command      = ["b"]
      user         = 0
      capabilities = ["CHOWN"]
      privileged   = true
    }

    # It runs as its workload.
    init "user" {
      command      = ["b"]
      capabilities = ["CHOWN"]
    }
  }
}

service "d" {
  workload "v" {
    capabilities = ["SYS_TIME"]
  }
}
