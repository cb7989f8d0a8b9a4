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

variable "storage_class" {
  type        = string
  default     = null
  description = "Storage class of the volumes of pods, such as one of Ceph RBD; by default that of the cluster."
}

variable "database_memory" {
  type        = number
  default     = 1024
  description = "MiB that the database reserves."
}

variable "ceph_monitor" {
  type        = string
  default     = "192.0.2.20"
  description = "Address of a monitor of Ceph."
}

variable "ceph_keyrings" {
  type        = map(string)
  default     = { glance = "[client.glance]", cinder = "[client.cinder]", cinder-backup = "[client.cinder-backup]" }
  sensitive   = true
  description = "Contents of keyring files, by the names of Ceph's users. Those of the default hold no keys."
}

variable "provider_interface" {
  type        = string
  default     = "eth1"
  description = "Interface of each compute node to the networks outside of the cloud."
}

variable "tunnel_network" {
  type        = string
  default     = null
  description = "Network of the compute nodes for traffic between servers, such as 198.51.100.0/24; by default that of the nodes."
}

variable "dns_servers" {
  type        = list(string)
  default     = ["192.0.2.53"]
  description = "DNS servers that servers of the cloud can reach."
}
