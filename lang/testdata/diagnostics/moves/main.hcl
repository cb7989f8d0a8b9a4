cloud "prod" {
  release = "2025.1"
}

service "memcached" {}

manifest "present" {
  object = {
    apiVersion = "v1"
    kind       = "ConfigMap"
    metadata   = { name = "a" }
  }
}

moved {
  from = service.memcache
  to   = service.memcachd
}

moved {
  from = service.memcached
  to   = manifest.present
}

moved {
  from = manifest.present
  to   = manifest.present
}

moved {
  from = manifest.past
  to   = "manifest.present/ConfigMap/a"
}

moved {
  from = manifest.old
  to   = manifest.present
}

moved {
  from = manifest.old
  to   = manifest.present
}

moved {
  from = variable.a
  to   = "manifest.present/ConfigMap"
}

removed {
  from = service.memcached
}

removed {
  from = "service.memcached/Deployment/memcached"
  lifecycle {
    destroy = "no"
  }
}

removed {
  from = service.gone
  lifecycle {
    destroy     = false
    delete_data = "all"
  }
}

removed {
  from = service.lost
  lifecycle {
    delete_data = "some"
  }
}

import {
  to = manifest.present
  id = "openstack/a"
}

import {
  to = "manifest.presnt/ConfigMap/a"
  id = "openstack/a"
}

import {
  to = "manifest.present/ConfigMap/a"
}
