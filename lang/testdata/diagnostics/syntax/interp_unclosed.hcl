locals {
  a = "x${local.b"
  b = 1
}

service "memcached" {
  role = role.control
}
