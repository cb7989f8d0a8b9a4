/* hello
service "memcached" {
  role = role.control
}
