service "memcached" {
  role = role.control
  images = {
    a = "b"
}

service "mariadb" {
  role = role.control
}
