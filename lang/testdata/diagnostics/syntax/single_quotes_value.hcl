service "memcached" {
  role = role.control
  name = 'mc'
}
