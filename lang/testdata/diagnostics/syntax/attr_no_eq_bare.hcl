service "memcached" {
  role
}
