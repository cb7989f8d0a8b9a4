cloud "c" {
  release = "2025.1"

  dynamic "defaults" {
    for_each = [1, 2]

    content {}
  }
}

dynamic "service" {
  for_each = ["a"]
  labels   = [service.value]

  content {}
}

service "agent" {
  dynamic "config" {
    for_each = 3
    labels   = ["agent.properties"]

    content {}
  }

  dynamic "config" {
    for_each = ["agent.properties", "agent.properties"]
    labels   = [config.value]

    content {
      vlaues = {}
    }
  }

  dynamic "config" {
    for_each = ["a b"]
    labels   = [config.value, 3]
    iterator = "config"

    content {}
  }

  dynamic "conifg" {
    for_each = []
  }

  dynamic "config" {
    for_each = []

    content {}
    content {}
    contents {}
  }

  dynamic "workload" {
    for_each = []
    labels   = ["x"]
  }

  dynamic {
  }

  dynamic "port" {
    for_each = []
    labels   = ["x"]

    content {}
    content {}
  }
}

service "memcached" {
  dynamic "port" {
    for_each = { memcache = "x", other = 30001 }
    labels   = [port.key]

    content {
      node_port = port.value
    }
  }
}

service "mariadb" {
  dynamic "port" {
    labels = ["mysql"]

    content {
      node_port = 30306
    }
  }
}
