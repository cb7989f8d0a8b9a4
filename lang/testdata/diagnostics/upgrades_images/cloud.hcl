cloud "dev" {
  release = "2026.1"
  tag     = "2025.1-rocky-9"
}

definition "nova" {
  job "sync" {
    when  = "before"
    image = "nova-conductor"
  }

  workload "api" {
    kind  = "Deployment"
    image = "nova-api"
  }

  workload "proxy" {
    kind  = "Deployment"
    image = "haproxy"
  }
}

service "nova" {
  images = { nova-conductor = "registry.example.org/nova-conductor:2025.2-rocky-10" }
}

# One release, which is not the cloud's. The proxy is of another project.
service "older" {
  definition = "nova"
  images     = { nova-api = "registry.example.org/nova-api:2025.2-rocky-10-patched@sha256:0000000000000000000000000000000000000000000000000000000000000000", nova-conductor = "registry.example.org/nova-conductor:2025.2-rocky-10" }
}

# Tags that name no release, and images of the cloud's release.
service "own" {
  definition = "nova"
  images     = { "nova-api" = "registry.example.org/nova-api:42", nova-conductor = "registry.example.org/nova-conductor:2026.1-rocky-10" }
}
