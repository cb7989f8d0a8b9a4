# Database, message queue and cache: the directory ./backing, with values of its own.
module "backing" {
  source = "./backing"

  database_memory = var.database_memory
  cache_replicas  = length(local.control_nodes)
}

# Keystone finds its database and its cache by their names, in the module too.
service "keystone" {
  replicas = length(local.control_nodes)

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
  replicas = length(local.control_nodes)
}

service "glance" {
  replicas = length(local.control_nodes)
  stores   = { ceph = { type = "rbd" } }
}

service "barbican" {
  replicas = 2
}

service "cinder" {
  replicas = 2
  backends = { ceph = { type = "rbd" } }
  backup   = {}
}

service "heat" {
  replicas = 2
}

service "horizon" {
  replicas = 2
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
