locals {
  a = <<EOT
hello

}

service "memcached" {
  role = role.control
}
