definition "agent" {
  description = "Something on every node"

  config "agent.properties" {
    format = "properties"
    path   = "/etc/agent.properties"
    values = { "a.b" = 1, "c" = [1, 2] }
  }

  workload "agent" {
    kind   = "DaemonSet"
    image  = "agent"
    role   = "compute"
    config = ["agent.properties"]
    update = "on-delete"
  }
}
