service "memcached" {
  role = if true then role.control
}
