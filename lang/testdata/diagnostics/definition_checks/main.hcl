cloud "c" {
  release = "2025.1"
}

definition "gateway" {
  input "networks" {
    type    = list(string)
    default = ["public"]
  }
  input "zone" {
    type    = string
    default = null
  }

  locals {
    elsewhere = flatten([for s in cloud.outputs["switch"] : s.networks])
  }

  workload "gateway" {
    kind  = "Deployment"
    image = "registry.example.org/gateway:1"
  }

  output "networks" {
    value = input.networks
  }

  check "networks" {
    assert {
      condition     = length(setsubtract(input.networks, local.elsewhere)) == 0
      error_message = "No switch has ${join(", ", setsubtract(input.networks, local.elsewhere))}."
    }
    assert {
      condition     = input.zone != null
      error_message = "The gateway ${self.name} has no zone."
    }
  }

  check "cache" {
    assert {
      condition     = try(service.memcached.replicas, 0) == 1 && length(cloud.outputs["page"]) == 0
      error_message = "There is no cache."
    }
    assert {
      condition     = length(cloud.outputs["swtich"]) == 0
      error_message = "x"
    }
  }
}

definition "switch" {
  input "networks" {
    type = list(string)
  }

  workload "switch" {
    kind  = "Deployment"
    image = "registry.example.org/switch:1"
  }

  output "networks" {
    value = input.networks
  }
}

definition "page" {
  workload "page" {
    kind  = "Deployment"
    image = "registry.example.org/page:1"
    args  = [length(cloud.outputs["switch"])]
  }
}

service "gateway" {
  networks = ["public", "lab"]
  zone     = "a"
}

service "second" {
  definition = "gateway"
}

service "there" {
  definition = "gateway"
  external   = { host = "gateway.example.org" }
}

service "switch" {
  networks = ["storage"]
}

service "left" {
  definition = "switch"
  networks   = ["lab"]
}

service "page" {}

service "own" {
  definition = "page"

  check "own" {}
}
