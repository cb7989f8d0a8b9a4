definition "memcached" {
  description = "Cache"

  port "memcache" {
    number = 11211
  }

  workload "server" {
    kind  = "Deployment"
    image = "memcached"
    ports = ["memcache"]
  }
}
