service "memcached" {
  name "x"
 role = role.control
}
