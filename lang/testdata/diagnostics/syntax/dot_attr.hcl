service "memcached" {
  role.name = role.control
}
