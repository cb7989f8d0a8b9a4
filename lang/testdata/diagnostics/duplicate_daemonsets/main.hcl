cloud "test" {
  release = "2025.1"
}

role "std" {
  nodes = ["a", "b", "c", "d", "e", "f"]
}

role "gpu" {
  nodes = ["f", "g"]
}

role "most" {
  roles = [role.std]
}

role "ssd" {
  match = { "disk" = "ssd" }
}

role "fast" {
  match = { "disk" = "ssd", "cpu" = "fast" }
}

role "maybe" {
  match = { "cpu" = "fast" }
}

definition "compute" {
  workload "compute" {
    kind  = "DaemonSet"
    image = "compute"
  }
}

definition "agent" {
  workload "agent" {
    kind  = "DaemonSet"
    image = "agent"
  }
}

service "compute" {
  for_each = { std = role.std, gpu = role.gpu, most = role.most }
  role     = each.value
}

service "ssd" {
  definition = "agent"
  role       = role.ssd
}

# Only the cluster shows whether they have nodes in common.
service "maybe" {
  definition = "agent"
  role       = role.maybe
}

service "fast" {
  definition = "agent"
  role       = role.gpu

  workload "agent" {
    role = role.fast
  }
}

service "everywhere" {
  definition = "agent"
}
