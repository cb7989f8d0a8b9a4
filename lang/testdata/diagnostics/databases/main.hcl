cloud "c" {
  release = "2025.1"
}

service "mariadb" {}
service "memcached" {}
service "keystone" {}

# The same database.
service "second" {
  definition = "keystone"
}

# Another one, with the same user.
service "third" {
  definition = "keystone"

  database "keystone" {
    name = "third"
    user = "keystone"
  }
}

# Each has its own.
service "more" {
  for_each   = toset(["a", "b"])
  definition = "keystone"

  database "keystone" {
    name = "keystone_${each.key}"
  }
}

# On a server of its own.
service "other" {
  definition = "mariadb"
}

service "fourth" {
  definition = "keystone"

  database "keystone" {
    server = join("", ["ot", "her"])
  }
}

service "fifth" {
  definition = "keystone"

  database "keystone" {
    name   = "Fifth-1"
    server = "memcached"
  }
}

service "sixth" {
  definition = "keystone"

  database "keystone" {
    name   = "sixth"
    server = join("", ["no", "where"])
  }
}
