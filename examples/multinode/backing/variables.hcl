variable "cache_replicas" {
  type        = number
  description = "Pods of the cache."
}

variable "database_memory" {
  type        = number
  default     = 1024
  description = "MiB that the database reserves; half of it caches tables."
}
