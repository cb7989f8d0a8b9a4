cloud "c" {
  release = "2025.1"
}

variable "password" {
  sensitive = true
}
