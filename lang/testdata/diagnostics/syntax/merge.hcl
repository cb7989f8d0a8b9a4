<<<<<<< HEAD
service "memcached" {
  role = role.control
}
=======
>>>>>>> x
