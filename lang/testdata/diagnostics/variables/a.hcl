cloud "test" {
  release = "2025.1"
}

variable "missing" {
  type = list(string)
}

variable "number" {
  type = number
}

variable "short" {
  type = string
  validation {
    condition     = length(var.short) > 3
    error_message = "It is only ${length(var.short)} long."
  }
}

variable "secret" {
  type      = number
  sensitive = true
}

variable "validated_secret" {
  sensitive = true
  default   = "hunter2-is-secret"
  validation {
    condition     = var.validated_secret == ""
    error_message = "It is ${var.validated_secret}."
  }
}

variable "bad_type" {
  type    = strin
  default = var.number
}

variable "bad_default" {
  type    = object({ a = number, b = optional(string, "x") })
  default = { a = "one" }
}

variable "not_null" {
  type     = string
  nullable = false
  default  = null
}

variable "environment" {
  type = map(string)
}

variable "sum" {
  validation {
    condition     = var.sum + var.validated_secret
    error_message = null
  }
  default = "a"
}

locals {
  silent = [for x in var.missing : x.y]
}
