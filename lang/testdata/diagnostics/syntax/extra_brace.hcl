service "memcached" {
  role = role.control
}
}

service "mariadb" {
  role = role.control
}
