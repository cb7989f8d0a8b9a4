# Valkey: a primary, replicas that have copies of its data, and sentinels that make a replica the
# primary when the primary is gone. Clients ask a sentinel where the primary is. A replica joins by
# being started. A restart costs nothing; the loss of a primary's node costs the writes of its last
# moments, and seconds. Clients and members have passwords of their own: members that restart one after
# the other, because clients get another password, still know each other.
definition "valkey" {
  description = "Locks and short-lived data, kept in several places"
  stage       = "data"

  # The first one: the address of the service leads to the sentinels.
  port "sentinel" {
    number = 26379
  }

  port "valkey" {
    number = 6379
  }

  secret "password" {}
  secret "members" {}

  input "memory" {
    type        = string
    default     = "1Gi"
    nullable    = false
    description = "Memory limit of each server. Servers refuse writes when their data take 60% of it."

    validation {
      condition     = can(regex("^[1-9][0-9]*(Mi|Gi)$", input.memory))
      error_message = "It is a whole number with a unit, Mi or Gi: 2Gi."
    }
  }

  locals {
    mib       = tonumber(regex("^[0-9]+", input.memory)) * (endswith(input.memory, "Gi") ? 1024 : 1)
    primary   = "kolla"
    sentinels = [for member in self.members.sentinel : "${member}:${port.sentinel}"]
    quorum    = floor(length(self.members.sentinel) / 2) + 1
    fallbacks = join("", [for n, s in local.sentinels : "&sentinel_fallback=${s}" if n > 0])
    settings = {
      primary       = local.primary
      port          = port.valkey
      sentinel_port = port.sentinel
      quorum        = local.quorum
      password      = secret.password.value
      members       = secret.members.value
      maxmemory     = "${floor(local.mib * 0.6)}mb"
    }
    env = {
      HOME          = "/tmp"
      DATA          = "/var/lib/valkey"
      PRIMARY       = local.primary
      SERVERS       = join(" ", self.members.server)
      SENTINELS     = join(" ", self.members.sentinel)
      QUORUM        = local.quorum
      PORT          = port.valkey
      SENTINEL_PORT = port.sentinel
    }
  }

  config "valkey.conf" {
    format  = "raw"
    path    = "/etc/valkey/valkey.conf"
    content = templatefile("${path.module}/valkey/valkey.conf.tmpl", local.settings)
  }

  # The sentinel changes a copy of this file.
  config "sentinel.conf" {
    format  = "raw"
    path    = "/etc/valkey/sentinel.conf"
    content = templatefile("${path.module}/valkey/sentinel.conf.tmpl", local.settings)
  }

  workload "server" {
    kind         = "StatefulSet"
    logs         = "console"
    image        = "valkey-server"
    user         = 42494
    replicas     = 3
    spread       = "required" # a node that is lost takes one copy
    command      = ["sh", "-ec", file("${path.module}/valkey/server.sh")]
    ports        = ["valkey"]
    config       = ["valkey.conf"]
    env          = local.env
    grace_period = 60

    claim "data" {
      path = "/var/lib/valkey"
      size = "5Gi"
    }

    resources {
      requests = { cpu = "50m", memory = "64Mi" }
      limits   = { memory = input.memory }
    }

    mount "members" {
      path = "/run/secrets/members"
    }

    # It waits for the word of the sentinels.
    startup {
      period  = 2
      retries = 450
    }

    ready {
      exec = ["sh", "-ec", file("${path.module}/valkey/ready.sh")]
    }

    lifecycle {
      precondition {
        condition = self.replicas == 0 || min(length(self.members.server), length(self.members.sentinel)) >= 3
        error_message = join(" ", [
          "With fewer than three servers and three sentinels, nobody can write any more when a node is gone.",
          "Run three of each workload of \"${self.name}\", or more.",
        ])
      }
    }
  }

  workload "sentinel" {
    kind     = "StatefulSet"
    logs     = "console"
    image    = "valkey-sentinel"
    user     = 42494
    replicas = 3
    spread   = "required"
    command  = ["sh", "-ec", file("${path.module}/valkey/sentinel.sh")]
    ports    = ["sentinel"]
    config   = ["sentinel.conf"]
    env      = merge(local.env, { TEMPLATE = "/etc/valkey/sentinel.conf" })

    claim "data" {
      path = "/var/lib/valkey"
      size = "1Gi"
    }

    resources {
      requests = { cpu = "20m", memory = "32Mi" }
      limits   = { memory = "128Mi" }
    }

    startup {
      period  = 2
      retries = 450
    }

    ready {
      tcp = "sentinel"
    }
  }

  # Any sentinel answers here who the primary is.
  output "sentinel" { value = "${self.ports.sentinel.host}:${port.sentinel}" }

  # The password of clients. Sentinels have none.
  output "password" { value = secret.password.value }

  # The name by which the sentinels know the primary.
  output "primary" { value = local.primary }

  # For clients with tooz, such as [coordination] of Cinder. It asks one sentinel after the other.
  output "coordination_url" {
    value = "redis://:${secret.password.value}@${try(local.sentinels[0], "")}?sentinel=${local.primary}${local.fallbacks}"
  }
}
