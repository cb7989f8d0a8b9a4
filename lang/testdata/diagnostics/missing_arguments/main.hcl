cloud "test" {
  release = "2025.1"
  defaults {
    config "*" {}
  }
}

variable "x" {
  validation {}
}

role "x" {}
exposure "x" {}
manifest "x" {}

definition "own" {
  port "p" {}
  database "d" {}
  secret "s" {}
  config "c" {}
  job "j" {}
  workload "w" {
    claim "c" {}
    mount "s" {}
    init "i" {}
    resources {}
    ready {}
  }
  endpoint "e" {}
  output "o" {}
  provides "database" {
    job "j" {}
  }
}

service "own" {
  config "c" {}
  workload "w" {
    resources {}
  }
  port "p" {}
}

service "mariadb" {
  definition = "own"
}

service "memcached" {
  definition = null
}

service "user" {
  definition = "keystone"
}
