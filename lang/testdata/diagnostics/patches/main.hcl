cloud "test" {
  release = "2025.1"

  defaults {
    patch "Deployment" {
      object = {}
    }
    patch "ConfigMap/*" {
      object = { data = { a = "b" } }
    }
  }
}

variable "token" {
  default   = "x"
  sensitive = true
}

service "mariadb" {}

service "memcached" {
  patch "Deployment/memcached-a" {
    object = "replicas"
  }
  patch "Deployment/memcached-b" {
    object = { metadata = { name = "other" } }
  }
  patch "Deployment/memcached-c" {
    object = { kind = "StatefulSet" }
  }
  patch "Deployment/memcached-d" {
    object = {
      metadata = {
        labels = { "kolla.openstack.org/cloud" = "other" }
      }
    }
  }
  patch "Deployment/memcached-e" {
    object = { status = { replicas = 1 } }
  }
  patch "Deployment/memcached-f" {
    object = {
      metadata = { annotations = { token = var.token } }
    }
  }
  patch "Secret/*" {
    object = { stringData = { password = "x" } }
  }
  patch "Deployment/*-nothing" {
  }
}

service "keystone" {
  patch "Deployment/keystone-api" {
    object = {
      metadata = { annotations = { password = secret.admin.value } }
    }
  }
}
