service "memcached" {
  role =
  name = "x"
}
