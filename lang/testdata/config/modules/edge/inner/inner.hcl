variable "of" {
  type = string
}

manifest "note" {
  object = {
    apiVersion = "v1"
    kind       = "ConfigMap"
    metadata   = { name = replace(var.of, ".openstack", "-note") }
    data       = { of = var.of }
  }
}
