cloud "c" {
  release = "2025.1"
}

# What pages have in common.
definition "page" {
  abstract = true

  port "http" {
    expose = true
  }

  database "*" {}

  config "*.conf" {
    path   = "/etc/${definition.name}.conf"
    values = { database = { connection = database[definition.name].url } }
  }

  job "migrate" {
    config = ["${definition.name}.conf"]
  }

  workload "web" {
    kind   = "Deployment"
    ports  = ["http"]
    config = ["${definition.name}.conf"]
  }
}

service "page" {}

service "again" {
  definition = "page"
}

# Not complete: no number, no images. What is wrong in the base is reported there.
definition "bare" {
  from = "page"
}

service "bare" {}

# Blocks that override nothing.
definition "misspelt" {
  from = "page"

  port "htp" {
    node_port = 30080
  }

  port "http" {
    number = 8080
  }

  config "mispelt.conf" {
    values = { DEFAULT = { debug = true } }
  }

  database "mispelt" {
    enabled = false
  }

  job "migrate" {
    image = "page"
  }

  workload "web" {
    image = "page"

    mount "session" {}
  }
}

definition "unknown" {
  from = "pgae"
}

service "unknown" {}

definition "itself" {
  from = "itself"
}

definition "a" {
  from = "c"
}

definition "b" {
  from = "a"
}

definition "c" {
  from = "b"
}

service "b" {}

definition "computed" {
  from = cloud.name
}

definition "maybe" {
  abstract = cloud.name == "c"
}

# Its name is none of a database.
definition "two-words" {
  from = "page"

  port "http" {
    number = 8080
  }

  job "migrate" {
    image = "page"
  }

  workload "web" {
    image = "page"
  }
}

# * stands for a name only in abstract definitions, and definition.name too.
definition "concrete" {
  config "*.conf" {
    path = "/etc/${definition.name}.conf"
  }

  workload "web" {
    kind   = "Deployment"
    image  = "page"
    env    = { A = definition.name, B = workload.name }
    config = ["*.conf"]
  }
}

service "concrete" {}

definition "blocks" {
  workload "web" {
    from = "wbe"
  }

  workload "x" {
    from = "y"
  }

  workload "y" {
    from = "x"
  }

  workload "self" {
    from = "self"
  }

  workload "kindless" {
    from = "imageless"
  }

  workload "imageless" {
    enabled = false
    command = ["page", workload.nam]
  }

  job "computed" {
    from = cloud.name
  }
}

service "blocks" {
  workload "more" {
    from = "kindles"
  }
}
