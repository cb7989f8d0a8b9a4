variable "name" {
  type = string
}

data "registry" {
  kind = "ConfigMap"
  name = var.name
}

definition "agent" {
  config "agent.conf" {
    format  = "raw"
    path    = "/etc/agent.conf"
    content = data.registry.object.data["host"]
  }

  workload "server" {
    kind   = "Deployment"
    image  = "agent"
    config = ["agent.conf"]
  }
}

service "agent" {
  name = "agent-${replace(var.name, "present", "known")}"
}

output "host" {
  value = data.registry.object.data["host"]
}
