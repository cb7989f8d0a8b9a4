cloud "c" {
  release = "2025.1"
}

variable "a" {
  default = "a"
}

variable "b" {
  default = "b"
}

variable "given" {
  default = "c"
}
