variable "role" {}

variable "replicas" {
  type = number
}

service "edge" {
  definition = "memcached"
  name       = "edge-${var.replicas}"
  role       = var.role
  replicas   = var.replicas
}

output "address" {
  value = service.edge.address
}
