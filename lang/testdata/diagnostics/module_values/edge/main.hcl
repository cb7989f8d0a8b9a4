variable "region" {
  type        = string
  description = "Where it is."
}

variable "replicas" {
  type    = number
  default = 1

  validation {
    condition     = var.replicas < local.most
    error_message = "At most ${local.most}."
  }
}

variable "password" {
  type = string
}

variable "strict" {
  type    = object({ a = number })
  default = null
}

locals {
  most    = 10
  outside = service.mariadb.host
}

definition "web" {
  workload "main" {
    kind  = "Deployment"
    image = "web"
    user  = 42400
  }
}

service "web" {}

output "address" {
  value = service.web.host

  precondition {
    condition     = var.region == "r"
    error_message = "The region is ${var.region}."
  }
}

output "password" {
  value = var.password
}

variable "enabled" {
  default = true
}
