variable "region" {
  type = string
}

variable "role" {}

variable "replicas" {
  type    = number
  default = 1

  validation {
    condition     = var.replicas < local.most
    error_message = "Too many."
  }
}

locals {
  most = 10
}

definition "web" {
  port "http" {
    number = 8080
  }

  config "web.conf" {
    path   = "/etc/web.conf"
    values = { cache = { server = service.memcached.address, region = var.region, here = path.module } }
  }

  workload "main" {
    kind   = "Deployment"
    image  = "web"
    user   = 42400
    config = ["web.conf"]
    ports  = ["http"]
  }
}

service "web" {
  name     = "web-${var.region}"
  role     = var.role
  replicas = var.replicas
}

module "inner" {
  source = "./inner"
  of     = service.web.host
}

output "address" {
  value = service.web.address

  precondition {
    condition     = var.region != ""
    error_message = "A region is needed."
  }
}
