variable "replicas" {
}

output "replicas" {
  value = var.replicas
}
