service "memcached" { role = role.control name = "x" }
