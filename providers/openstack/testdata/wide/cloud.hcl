# Everything that a rendering can come across and the examples do not have.
cloud "wide" {
  release      = "2026.1"
  distro       = "debian-trixie"
  registry     = "registry.example.org/kolla"
  prefix       = "my-"
  pull_secrets = ["registry"]
  namespace    = "cloud"
}

variable "license" {
  type      = string
  sensitive = true
  default   = "not-a-real-license"
}

role "edge" {
  match  = { zone = "edge" }
  labels = { edge = "yes" }
}

role "all" {
  nodes  = ["n1", "n2"]
  labels = { all = "yes" }
}

exposure "outside" {
  vip = "192.0.2.1"
}

service "mariadb" {
  role = role.all
  workload "server" {
    resources {
      limits = { memory = "2Gi" }
    }
  }
}

service "gate" {
  role     = role.edge
  expose   = exposure.outside
  replicas = 2
  images   = { gate = "registry.example.org/special/gate:1" }
}

definition "gate" {
  description = "A service of one's own"

  port "web" {
    number    = 8080
    expose    = true
    node_port = 30808
  }

  port "admin" {
    number = 9090
  }

  database "ledger" {}

  secret "keys" {
    kind  = "fernet"
    count = 2
  }

  config "gate.conf" {
    format = "ini"
    path   = "/etc/gate/gate.conf"
    values = {
      DEFAULT  = { workers = 4, tags = ["a", "b"] }
      database = { connection = database.ledger.url }
      license  = { key = var.license }
    }
  }

  config "public.ini" {
    format = "ini"
    path   = "/etc/gate/public.ini"
    values = {
      gate = { url = self.public_url }
    }
  }

  job "migrate" {
    image   = "gate"
    user    = 42400
    command = ["gate", "migrate"]
    config  = ["gate.conf"]
  }

  job "announce" {
    when    = "after"
    image   = "gate"
    user    = 42400
    command = ["gate", "announce", self.public_url]
  }

  workload "web" {
    kind    = "Deployment"
    image   = "gate"
    user    = 42400
    command = ["gate", "serve"]
    ports   = ["web", "admin"]
    config  = ["gate.conf", "public.ini"]
    env     = { LICENSE = var.license, MODE = "web" }
    mount "keys" {
      path = "/etc/gate/keys"
    }
    ready {
      http = "/health"
      port = "web"
    }
  }

  workload "agent" {
    kind    = "DaemonSet"
    image   = "gate-agent"
    user    = 42400
    start   = "kolla"
    command = ["gate-agent", "--verbose"]
    config  = ["public.ini"]
    update  = "on-delete"
    role    = role.all
  }

  # What it needs of its node.
  workload "hypervisor" {
    kind         = "DaemonSet"
    image        = "gate-hypervisor"
    user         = 0
    command      = ["gate-hypervisor"]
    host_network = true
    host_pid     = true
    role         = role.all
    env          = { NAME = node.name, LISTEN = "tcp:${node.ip}:16509" }

    volume "run" {
      host        = "/run"
      propagation = "both"
    }

    volume "images" {
      claim = "images"
      path  = "/var/lib/images"
    }

    volume "shm" {
      memory = "64Mi"
      path   = "/dev/shm"
    }

    init "module" {
      command      = ["modprobe", "tun"]
      capabilities = ["SYS_MODULE"]

      volume "modules" {
        host      = "/lib/modules"
        read_only = true
      }
    }

    sidecar "libvirt" {
      image         = "gate-libvirt"
      privileged    = true
      writable_root = true
      seccomp       = "unconfined"
      apparmor      = "localhost/gate"
      selinux       = "spc_t"
      env           = { MEMBER = "on ${node.name}" }
    }
  }
}

manifest "own" {
  object = {
    apiVersion = "v1"
    kind       = "ConfigMap"
    metadata   = { name = "note" }
    data       = { gate = service.gate.address }
  }
  depends_on = [service.gate]
}

manifest "files" {
  files = ["*.yaml"]
}
