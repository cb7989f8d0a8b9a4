cloud "c" {
  release    = "2025.1"
  config_dir = "config"
}

definition "page" {
  config "page.conf" {
    path        = "/etc/page.conf"
    secret_path = "/etc/page.conf.d/secrets.conf"
    values      = { DEFAULT = { a = 1 }, other = { b = 2 } }
  }
  config "lost.conf" {
    from = "pag.conf"
  }
  config "a.conf" {
    from = "b.conf"
    path = "/etc/a.conf"
  }
  config "b.conf" {
    from = "a.conf"
  }
  config "nowhere.conf" {
    values = {}
  }
  config "part.conf" {
    from = "page.conf"
    only = ["othr"]
  }
  config "computed.conf" {
    from = "page.conf"
    only = [cloud.region]
    mode = "644"
  }
  config "raw" {
    format  = "raw"
    from    = "page.conf"
    content = "x"
  }
  config "policy.yaml" {
    format   = "yaml"
    path     = "/etc/policy.yaml"
    optional = true
  }
  config "tree.json" {
    format = "json"
    path   = "/etc/tree.json"
    values = 5
  }

  workload "w" {
    kind   = "Deployment"
    image  = "page"
    config = ["page.conf", "part.conf", "policy.yaml"]
  }
}

service "page" {
  config "pgae.conf" {
    values = { DEFAULT = { a = 2 } }
  }
}
