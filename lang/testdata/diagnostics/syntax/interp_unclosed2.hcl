locals {
  a = "x${upper("a"}"
  b = 1
}

service "memcached" {
  role = role.control
}
