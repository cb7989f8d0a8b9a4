variable "role" {
  description = "Nodes that everything here runs on."
}

variable "database_memory" {
  type        = number
  default     = 1024
  description = "MiB that the database reserves; half of it caches tables."
}
