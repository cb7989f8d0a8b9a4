variable "vip" {
  type        = string
  default     = "192.0.2.10"
  description = "Address that a load balancer in front of the compute nodes holds."
}

variable "token_lifetime" {
  type        = number
  default     = 7200
  description = "Seconds for which a Keystone token is valid."

  validation {
    condition     = var.token_lifetime >= 300
    error_message = "Tokens that live less than five minutes break long uploads."
  }
}

variable "database_memory" {
  type        = number
  default     = 1024
  description = "MiB that the database reserves."
}
