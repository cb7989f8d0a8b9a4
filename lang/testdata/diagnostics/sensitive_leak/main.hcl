cloud "test" {
  release = "2025.1"
  region  = file(var.password)
}

variable "password" {
  type      = string
  sensitive = true
  default   = "hunter2-is-secret"
}

locals {
  decoded   = jsondecode(var.password)
  duplicate = { for x in [1, 2] : var.password => x }
  derived   = jsondecode("{${local.upper}")
  upper     = "${var.password}-more"
  number    = tonumber(var.password) + 1
  attribute = var.password.attribute
}
