cloud "test" {
  release = "2025.1"
}

role "pair" {
  nodes = ["a", "b"]
}

locals {
  bad = [
    "dedicated:NoSchedule",
    { keys = "a" },
    { key = ["a"] },
    { key = "a", effect = "Never" },
    { effect = "NoSchedule" },
    { key = "not a key" },
    { key = "a", operator = "Exists", value = "b" },
    { key = "a", value = "not a value" },
    { key = "fine", value = null, effect = "NoExecute" },
  ]
}

definition "d" {
  workload "set" {
    kind      = "DaemonSet"
    image     = "d"
    spread    = "required"
    spread_by = "topology.kubernetes.io/zone"
  }

  workload "api" {
    kind        = "Deployment"
    image       = "d"
    priority    = "Not A Class"
    tolerations = local.bad
    spread      = "always"
    spread_by   = "not a label"
  }

  workload "db" {
    kind     = "StatefulSet"
    image    = "d"
    replicas = 3
    spread   = "required"
  }

  workload "zoned" {
    kind      = "StatefulSet"
    image     = "d"
    replicas  = 3
    spread    = "required"
    spread_by = "topology.kubernetes.io/zone"
  }
}

service "d" {
  role = role.pair
}

service "e" {
  definition = "d"
  role       = role.pair

  workload "api" {
    tolerations = [{ key = sensitive("a") }]
  }
  workload "db" {
    replicas    = 4
    tolerations = { key = "a" }
  }
}
