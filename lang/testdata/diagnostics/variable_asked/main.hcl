cloud "c" {
  release = "2025.1"
}

variable "asked" {
}

service "memcached" {
  name = var.asked
}
