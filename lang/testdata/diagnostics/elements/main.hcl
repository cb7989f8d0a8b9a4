cloud "c" {
  release = "2025.1"
}

variable "nodes" {
  type = map(object({
    disk = list(object({ size = number, fast = optional(bool) }))
    name = optional(string)
  }))
}

variable "given" {
  type = map(object({ size = number }))
}

variable "fallback" {
  type    = object({ a = number, b = optional(string, "x") })
  default = { a = "x", c = 1 }
}

variable "pair" {
  type    = tuple([string, number])
  default = ["a", 1, 2]
}

variable "same" {
  type    = map(any)
  default = { a = "x", b = ["y"] }
}

variable "names" {
  type    = list(string)
  default = "a"
}

variable "secret" {
  type      = map(number)
  default   = { a = "hunter2" }
  sensitive = true
}

variable "few" {
  type    = number
  default = 5
  validation {
    condition     = var.few < 3
    error_message = "At most two."
  }
}

module "part" {
  source = "./part"
  disk   = { size = 1, fats = true }
  disks = [
    {
      siez = 2
    },
    local.larger,
    "sda",
  ]
}

locals {
  larger = { size = 3, other = 4 }
  follows = {
    sizes  = { for k, n in var.nodes : k => sum(n.disk[*].size) }
    number = var.fallback.a + 1
    same   = var.same.a
  }
}
