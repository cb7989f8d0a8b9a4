service "memcached" = {
  role = role.control
}
