cloud "c" {
  release = "2025.1"
}

policy "misspelt" {
  condition     = plan.action == []
  error_message = "x"
}

policy "misspelt_inner" {
  condition     = alltrue([for a in plan.actions : a.verbb == "delete"])
  error_message = "x"
}

policy "misspelt_message" {
  condition     = false
  error_message = "Changed: ${join(", ", plan.actions[*].adress)}."
}

policy "number" {
  condition     = length(plan.actions)
  error_message = "x"
}

policy "level" {
  condition     = true
  error_message = "x"
  level         = "denied"
}

policy "nothing" {
}

policy "unknown" {
  condition     = local.nothing == 1
  error_message = "x"
}

policy "twice" {
  condition     = true
  error_message = "x"
}

policy "third" {
  condition     = plan.actions[2].verb == "create"
  error_message = "An index that a real plan may have is no error."
}

output "elsewhere" {
  value = plan.counts
}

module "inner" {
  source = "./inner"
}
