service "memcached" {
  role = role.control
  role = role.control
}
