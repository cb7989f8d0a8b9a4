# Cinder: the API under uWSGI, scheduler, volume service and, where asked for, backups. Volumes are in the
# database: a restart costs the requests under way. No pod has powers to attach devices, for LVM and iSCSI.
definition "cinder" {
  from        = "api-with-daemons"
  description = "Volumes"

  input "backends" {
    type = map(object({
      type          = string
      pool          = optional(string, "volumes")
      share         = optional(string, "")
      storage_class = optional(string)
      settings      = optional(map(string), {})
    }))
    nullable    = false
    description = "Where volumes are, by name: type rbd (pool of service.ceph), nfs (share HOST:/PATH, its storage_class) or other; settings of the driver."

    validation {
      condition     = alltrue([for b in input.backends : contains(["nfs", "other", "rbd"], b.type)])
      error_message = "Types are nfs, other and rbd.${join("", [for b in input.backends : didyoumean(b.type, ["nfs", "other", "rbd"])])}"
    }

    validation {
      condition = length(input.backends) > 0 && length([for b in input.backends : b if b.type == "nfs"]) <= 1 && alltrue([for b in input.backends :
      (b.type != "nfs" || can(regex("^[^:]+:/", b.share))) && (b.type != "other" || contains(keys(b.settings), "volume_driver"))])
      error_message = "Cinder needs backends: nfs (only one) with a share such as \"nas.example.org:/volumes\", other with volume_driver among its settings."
    }

    validation {
      condition = !contains(cloud.services, "nova-compute") || length(local.unreachable) == 0
      error_message = join(" ", [
        "No server could attach a volume of ${join(", ", local.unreachable)}: the hypervisors of nova-compute have neither iscsid nor multipathd,",
        "and no software of vendors. They attach volumes in Ceph and on NFS. For other volumes they need a definition of your own.",
      ])
    }
  }

  input "backup" {
    type        = object({ pool = optional(string, "backups"), settings = optional(map(string), {}) })
    default     = null
    description = "Where backups are kept; by default nowhere. {}: in a pool of service.ceph; settings with backup_driver: elsewhere. Volumes on NFS have none."
  }

  input "coordination_url" {
    type        = string
    default     = null
    description = "Where processes of Cinder keep locks that all of them respect, such as service.valkey.coordination_url."
  }

  locals {
    uid   = 42407
    rbd   = anytrue([for b in input.backends : b.type == "rbd"])
    share = join("", [for b in input.backends : b.share if b.type == "nfs"])
    class = try(one([for b in input.backends : b.storage_class if b.type == "nfs"]), null)
    # Backends with a driver of Cinder that is neither for Ceph nor for NFS.
    unreachable = [for name, b in input.backends : name if can(regex("^cinder[.]volume[.]drivers[.]", b.settings["volume_driver"])) &&
    !can(regex("[.]RBDDriver$|(?i:nfs)", b.settings["volume_driver"])) && try(b.settings["netapp_storage_protocol"], "") != "nfs"]
    backups = input.backup != null
    ceph    = local.backups && !can(input.backup.settings["backup_driver"])
    backup  = merge(local.ceph ? merge(local.drivers.backup, { backup_ceph_pool = input.backup.pool }) : {}, try(input.backup.settings, {}))
    drivers = yamldecode(file("${path.module}/cinder/drivers.yaml"))
    auth    = merge(user.cinder.auth, { interface = "internal" })
    helper  = { capabilities = "", helper_command = "privsep-helper --config-file /etc/cinder/cinder.conf" }
    sections = { for name, b in input.backends : name => merge({ volume_backend_name = name }, lookup(local.drivers, b.type, {}),
      b.type == "rbd" ? { rbd_pool = b.pool, rbd_secret_uuid = try(service.ceph.secret_uuid, null) } : {},
      b.type == "nfs" ? { nas_host = split(":", b.share)[0], nas_share_path = trimprefix(b.share, "${split(":", b.share)[0]}:") } : {},
    b.settings) }
  }

  port "api" {
    number    = 8776
    node_port = 30776
  }

  user "cinder" {
    roles = ["admin", "service"]
  }

  endpoint "block-storage" {
    port = "api"
    path = "/v3"
  }

  endpoint "volumev3" {
    enabled = cloud.release < 2026.1
    name    = "cinderv3"
    port    = "api"
    path    = "/v3/%(tenant_id)s"
  }

  config "cinder.conf" {
    values = {
      DEFAULT            = { glance_api_servers = try(service.glance.url, null) }
      keystone_authtoken = { service_type = "block-storage" }
      service_user       = merge(user.cinder.auth, { send_service_user_token = true })
      nova               = local.auth
      glance             = cloud.release >= 2025.2 ? local.auth : null
      barbican = {
        auth_endpoint          = "${service.keystone.url}/v3"
        barbican_endpoint_type = "internal"
      }
      coordination     = { backend_url = input.coordination_url }
      cinder_sys_admin = local.helper
      privsep_osbrick  = local.helper
    }
  }

  config "cinder-api.conf" {}

  config "cinder-scheduler.conf" {
    from = "cinder.conf"
  }

  config "cinder-volume.conf" {
    from   = "cinder.conf"
    values = merge({ DEFAULT = { enabled_backends = keys(input.backends) } }, local.sections)
  }

  config "cinder-backup.conf" {
    enabled = local.backups
    from    = "cinder.conf"
    values  = { DEFAULT = local.backup }
  }

  # The check looks at all drivers.
  config "cinder-check.conf" {
    from   = "cinder-volume.conf"
    values = { DEFAULT = local.backup }
  }

  config "ceph.conf" {
    enabled = local.rbd || local.ceph
    format  = "raw"
    path    = "/etc/ceph/ceph.conf"
    content = service.ceph.conf
  }

  dynamic "config" {
    for_each = ["cinder", "cinder-backup"]
    labels   = ["ceph.client.${config.value}.keyring"]
    content {
      enabled   = config.value == "cinder" ? local.rbd : local.ceph
      format    = "raw"
      sensitive = true
      path      = "/etc/ceph/ceph.client.${config.value}.keyring"
      content   = service.ceph.keyrings[config.value]
    }
  }

  # Cinder looks at images by sudo. All files are its own, so the helpers above need neither sudo nor capabilities.
  config "sudo" {
    format  = "raw"
    path    = "/var/lib/kolla/venv/bin/sudo"
    mode    = "0555"
    content = file("${path.module}/cinder/sudo.sh")
  }

  job "upgrade-check" {
    from   = "check"
    config = ["cinder-check.conf", "ceph.conf"]
  }

  job "db-sync" {
    from    = "database"
    command = ["cinder-manage", "db", "sync"]
  }

  job "db-online" {
    from    = "database"
    when    = "after"
    command = ["cinder-manage", "db", "online_data_migrations"]
  }

  # Deletes backends that are no longer declared, and the service for backups.
  job "retire" {
    from     = "database"
    when     = "after"
    command  = ["python3", "-c", file("${path.module}/cinder/retire.py")]
    timeout  = 600
    attempts = 2
    env = {
      PODS   = "${self.name}-volume-0 ${self.name}-backup-0"
      WANTED = join(" ", concat([for name in keys(input.backends) : "${self.name}-volume-0@${name}"], local.backups ? ["${self.name}-backup-0"] : []))
    }
  }

  workload "api" {
    follows = ["cinder"]
    config  = ["cinder-api.conf", "cinder-api-uwsgi.ini", "policy.yaml"]

    resources {
      requests = { cpu = "100m", memory = "512Mi" }
      limits   = { cpu = "2", memory = "2Gi" }
    }

    startup {
      enabled = false
    }
  }

  # The database knows daemons by the names of their pods.
  workload "scheduler" {
    from    = "daemon"
    follows = ["cinder"]
    kind    = "StatefulSet"
    config  = ["cinder-scheduler.conf", "policy.yaml"]

    resources {
      requests = { cpu = "50m", memory = "256Mi" }
      limits   = { cpu = "1", memory = "1Gi" }
    }
  }

  workload "volume" {
    from         = "daemon"
    follows      = ["cinder"]
    kind         = "StatefulSet"
    max_replicas = 1 # volumes belong to the name of the pod
    config       = ["cinder-volume.conf", "ceph.conf", "ceph.client.cinder.keyring", "sudo", "policy.yaml"]
    grace_period = 120 # a volume that is being made is finished

    claim "files" {
      enabled = local.share != ""
      path    = "/var/lib/cinder/mnt/${md5(local.share)}" # where the driver would mount it
      size    = "100Gi"

      storage_class = local.class
    }

    resources {
      requests = { cpu = "100m", memory = "384Mi" }
      limits   = { cpu = "2", memory = "2Gi" }
    }
  }

  workload "backup" {
    from         = "daemon"
    follows      = ["cinder"]
    enabled      = local.backups
    kind         = "StatefulSet"
    max_replicas = 1
    config       = ["cinder-backup.conf", "ceph.conf", "ceph.client.cinder.keyring", "ceph.client.cinder-backup.keyring", "sudo", "policy.yaml"]
    grace_period = 120

    resources {
      requests = { cpu = "100m", memory = "512Mi" }
      limits   = { cpu = "2", memory = "2Gi" }
    }
  }

  output "backups" {
    value = local.backups
  }

  check "share" {
    assert {
      condition = local.share == "" || local.class != null
      error_message = join(" ", [
        "Cinder may write volumes where no server finds them: hypervisors mount ${local.share}, and Kubernetes chooses another volume for claim \"files\".",
        "Make a PersistentVolume that is the share itself, and name its class as storage_class of the backend (and no longer in claim \"files\").",
      ])
    }
  }
}
