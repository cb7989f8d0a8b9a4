# Heat, Cinder with all that it can have, and Horizon, in one release after the other.
variable "release" {
  type = string
}

cloud "stacks" {
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
  keyrings = { cinder = "[client.cinder]\n\tkey = not-a-real-key\n", cinder-backup = "[client.cinder-backup]\n" }
}

service "cinder" {
  role   = role.control
  expose = exposure.public

  backends = {
    rbd-1 = { type = "rbd" }
    nfs-1 = { type = "nfs", share = "nas.example.org:/volumes", storage_class = "nas", settings = { nfs_sparsed_volumes = "false" } }
    fake  = { type = "other", settings = { volume_driver = "cinder.tests.fake_driver.FakeLoggingVolumeDriver" } }
  }
  backup = {}
}

service "heat" {
  role     = role.control
  expose   = exposure.public
  replicas = 2
}

service "horizon" {
  role   = role.control
  expose = exposure.public
}

variable "distro" {
  type    = string
  default = "debian-bookworm"
}
