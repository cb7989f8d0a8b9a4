cloud "c" {
  release = "2025.1"
}

definition "web" {
  input "replicas" {}
  input "config" {}

  input "stores" {
    type        = map(object({ type = string, pool = optional(string, "images") }))
    default     = { file = { type = "file" } }
    description = "Where images are kept, by name."
  }
  input "size" {
    type     = number
    default  = 5
    nullable = true

    validation {
      condition     = input.size > 3
      error_message = "It is ${input.size}, and has to be more than 3."
    }
  }
  input "name_of_it" {
    description = "What it is called."
  }
  input "never" {
    type     = string
    nullable = false
  }
  input "key" {
    type      = number
    default   = 1
    sensitive = true
  }
  input "odd" {
    type    = nummer
    default = 1
  }
  input "bad" {
    type    = list(string)
    default = 5
  }

  workload "w" {
    kind  = "Deployment"
    image = input.img
  }
}

service "web" {
  stores = { rbd = { typ = "rbd" } }
  size   = 2
  never  = null
  key    = "hunter2"
}

service "more" {
  definition = "web"
  store      = {}
  name_of_it = "x"
  never      = [1]
  replcas    = 3
  workload   = {}
}

service "memcached" {
  size = 5
}

# Local values of a definition.
definition "circle" {
  locals {
    a = local.b
    b = local.a
    c = 1
  }
  locals {
    c = 2
  }

  workload "w" {
    kind  = "Deployment"
    image = local.a
    args  = [service.nowhere.host, local.d]
  }
}

service "circle" {
  enabled = !contains(cloud.services, "web")
}

service "round" {
  definition = "circle"
}
