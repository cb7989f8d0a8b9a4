# Database, message queue and cache: the directory ./backing, with values of its own.
module "backing" {
  source = "./backing"

  role            = role.control
  database_memory = var.database_memory
}

# Keystone finds its database and its cache by their names, in the module too.
service "keystone" {
  role     = role.control
  replicas = length(local.control_nodes)
  expose   = exposure.public

  config "keystone.conf" {
    values = {
      token = { expiration = var.token_lifetime }
    }
  }
}

# Images and volumes are in a Ceph that is there already. The keyrings of its users come
# from the environment: KOLLA_VAR_ceph_keyrings.
service "ceph" {
  external = { host = var.ceph_monitor }
  keyrings = var.ceph_keyrings
}

service "placement" {
  role     = role.control
  replicas = length(local.control_nodes)
  expose   = exposure.public
}

service "glance" {
  role     = role.control
  replicas = length(local.control_nodes)
  expose   = exposure.public
  stores   = { ceph = { type = "rbd" } }
}

service "barbican" {
  role     = role.control
  replicas = 2
  expose   = exposure.public
}

service "cinder" {
  role     = role.control
  replicas = 2
  expose   = exposure.public
  backends = { ceph = { type = "rbd" } }
  backup   = {}
}

service "heat" {
  role     = role.control
  replicas = 2
  expose   = exposure.public
}

service "horizon" {
  role     = role.control
  replicas = 2
  expose   = exposure.public
}

# Anything that Kubernetes knows can come along as it is.
manifest "limits" {
  files = ["manifests/*.yaml"]
}

check "token_lifetime" {
  assert {
    condition     = var.token_lifetime <= 24 * 3600
    error_message = "A stolen token works for longer than a day."
  }
}

output "identity" {
  value       = service.keystone.public_url
  description = "Where clients log in."
}
