cloud "test" {
  release = "2025.1"
}

role "edge" {
  nodes = ["a", "b"]
}

exposure "first" {
  vip   = "192.0.2.10"
  mode  = "managed"
  nodes = role.edge

  keepalived {
    interface = "eth0"
  }
}

# The same address, and the same number in VRRP.
exposure "again" {
  vip   = "192.0.2.10"
  mode  = "managed"
  nodes = role.edge

  keepalived {
    interface = "eth0"
  }
}

# An address that a node would have, and a load balancer of the operator too.
exposure "outside" {
  vip = "192.0.2.10"
}

exposure "bare" {
  vip  = "192.0.2.12"
  mode = "managed"
}

exposure "odd" {
  vip        = "2001:db8::10"
  mode       = "managed"
  nodes      = role.edge
  node_ports = "30000-32767"

  keepalived {
    interface         = "eth 0"
    vrrp_interface    = "a-name-that-is-too-long"
    virtual_router_id = 256
  }
}

exposure "nameless" {
  vip   = "192.0.2.13"
  mode  = "managed"
  nodes = role.edge

  keepalived {
    virtual_router_id = 61
  }
}

exposure "misplaced" {
  vip = "192.0.2.14"

  keepalived {
    interface         = "eth0"
    virtual_router_id = 62
  }
}
