cloud "c" {
  release = "2025.1"
}

variable "asked" {
  description = "Nobody answers"
}

role "r" {
  nodes = [var.asked]
}
