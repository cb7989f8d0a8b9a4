# Placement, Barbican, and Glance with both kinds of stores, in one release after the other.
variable "release" {
  type = string
}

cloud "images" {
  release    = var.release
  distro     = var.distro
  config_dir = "./config"
}

role "control" {
  nodes = ["n1"]
}

exposure "public" {
  vip  = "192.0.2.1"
  fqdn = "cloud.example.org"
}

service "mariadb" {
  role = role.control
}

service "memcached" {
  role = role.control
}

service "rabbitmq" {
  role = role.control
}

service "keystone" {
  role   = role.control
  expose = exposure.public
}

service "ceph" {
  external = { host = "192.0.2.20" }
  keyrings = { glance = "[client.glance]\n\tkey = not-a-real-key\n" }
}

service "placement" {
  role     = role.control
  replicas = 2
  expose   = exposure.public
}

service "barbican" {
  role              = role.control
  expose            = exposure.public
  keystone_listener = true
}

service "glance" {
  role   = role.control
  expose = exposure.public
}

service "glance-rbd" {
  definition = "glance"
  role       = role.control
  replicas   = 3

  stores = {
    archive = { type = "rbd", pool = "archive", settings = { rbd_store_chunk_size = "16" } }
    fast    = { type = "rbd" }
  }
  default_store = "fast"

  database "glance" {
    name = "glance_rbd"
  }

  user "glance" {
    name = "glance-rbd"
  }

  endpoint "image" {
    enabled = false
  }
}

variable "distro" {
  type    = string
  default = "debian-bookworm"
}
