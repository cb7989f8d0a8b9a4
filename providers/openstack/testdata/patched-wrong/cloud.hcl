cloud "prod" {
  release = "2025.1"

  defaults {
    patch "StatefulSet/memcached" {
      object = { spec = { minReadySeconds = 5 } }
    }
  }
}

service "memcached" {
  patch "Deployment/memcache" {
    object = { spec = { minReadySeconds = 5 } }
  }

  patch "Service/*" {
    object = { spec = { sesionAffinity = "ClientIP" } }
  }

  patch "StatefulSet/*" {
    object = {
      spec = {
        replicas = "many"
        template = { spec = {
          containers   = [{ workingDir = "/" }]
          tolerations  = { key = "x" }
          nodeSelector = ["a"]
          dnsPolicy    = null
          hostname     = { a = 1 }
          hostNetwork  = 1
        } }
        minReadySeconds      = 5
        revisionHistoryLimit = null
        podManagementPolicy  = "OrderedReady"
      }
    }
  }

  patch "PodDisruptionBudget/*" {
    object = { spec = { selector = { matchLabels = { a = "b" } } } }
  }
}
