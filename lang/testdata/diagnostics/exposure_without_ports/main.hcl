cloud "test" {
  release = "2025.1"
}

exposure "public" {
  vip = "192.0.2.10"
}

service "memcached" {
  expose = exposure.public
}
