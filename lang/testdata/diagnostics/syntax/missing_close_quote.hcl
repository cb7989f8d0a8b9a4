service "memcached" {
  role = role.control
  name = "mc
}

service "mariadb" {
  role = role.control
}
