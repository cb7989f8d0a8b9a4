locals {
  a = upper("x"
  b = 1
}

service "memcached" {
  role = role.control
}
