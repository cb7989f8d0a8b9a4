cloud "c" {
  release = "2025.1"
}

variable "password" {
  sensitive = true
  default   = "hunter2"
}

variable "most" {
  type    = number
  default = 2
}

secret "token" {}

data "window" {
  kind = "ConfigMap"
  name = "window"
}

locals {
  deletes = 0
}

policy "passed" {
  condition     = plan.counts.destroy <= var.most && plan.cloud == cloud.name
  error_message = "x"
}

policy "denied" {
  condition     = plan.counts.destroy == local.deletes
  error_message = "Deleted: ${join(", ", [for a in plan.actions : a.address if a.verb == "delete"])}."
}

policy "warned" {
  condition     = length(plan.actions) == 0
  error_message = "${length(plan.actions)} actions."
  level         = "warn"
}

policy "sensitive" {
  condition     = plan.cloud == var.password
  error_message = "It is ${var.password}."
}

policy "secret" {
  condition     = plan.cloud == "x"
  error_message = "It is ${secret.token.value}."
}

policy "unknown" {
  condition     = data.window.object.data.open == "yes"
  error_message = "x"
}

policy "empty" {
  condition     = plan.destroy ? true : null
  error_message = "x"
}

policy "broken" {
  condition     = plan.actions[7].verb == "create"
  error_message = "x"
}

policy "broken_warning" {
  condition     = plan.actions[7].verb == "create"
  error_message = "x"
  level         = "warn"
}

policy "broken_message" {
  condition     = plan.destroy
  error_message = "It is ${plan.actions[7].verb}."
}
