variable "disk" {
  type = object({ size = number, fast = optional(bool) })
}

variable "disks" {
  type = list(object({ size = number }))
}
