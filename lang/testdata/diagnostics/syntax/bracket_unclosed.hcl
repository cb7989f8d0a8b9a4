locals {
  a = ["x", "y"
  b = 1
}

service "memcached" {
  role = role.control
}
