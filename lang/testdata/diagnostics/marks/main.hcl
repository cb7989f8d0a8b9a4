cloud "test" {
  release = "2025.1"
}

definition "d" {
  workload "w" {
    kind   = "Deployment"
    image  = "d"
    labels = { "app.kubernetes.io/component" = "other", "example.org/a" = "a value" }
  }

  job "j" {
    image       = "d"
    annotations = { "kolla.openstack.org/secret-x" = "1", "not a key" = "1" }
  }
}

service "d" {
  labels      = { "kolla.openstack.org/cloud" = "other" }
  annotations = { "kolla.openstack.org/address" = "other" }

  workload "w" {
    annotations = { "kolla.openstack.org/inputs" = "1" }
  }
}

service "e" {
  definition = "d"
  external   = { host = "e.example.org" }
  labels     = { a = "b" }
}
