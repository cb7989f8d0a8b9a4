service "memcached" {
  role = "${role.control}"
  name = "${var.x
}
