# No service takes these defaults, and still they are wrong.
cloud "test" {
  release = "2025.1"

  defaults {
    role   = "control"
    expose = exposure.publik
  }
}

role "control" {
  nodes = ["node-1"]
}

exposure "public" {
  vip = "192.0.2.10"
}

service "memcached" {
  role = role.control
}
