cloud "c" {
  release = "2025.1"

  defaults {
    config "page.conf" {
      values = { rpc = { check = true } }
    }
  }
}

definition "page" {
  config "page.conf" {
    path   = "/etc/page.conf"
    values = { rpc = { compatible = "old", check = false } }
    pins   = { "rpc.compatible" = "auto", "rpc.check" = "false", "rpc.level" = "" }
  }
  config "derived.conf" {
    from   = "page.conf"
    path   = "/etc/derived.conf"
    values = { rpc = { level = 1 } }
  }
  workload "w" {
    kind   = "Deployment"
    image  = "page"
    config = ["page.conf", "derived.conf"]
  }
}

service "page" {
  config "page.conf" {
    values = { rpc = { compatible = "2024.2" } }
  }
}

service "free" {
  definition = "page"
  config "page.conf" {
    values = { rpc = { compatible = "AUTO", check = false } }
  }
  config "derived.conf" {
    values = { rpc = { level = 2 } }
  }
}
