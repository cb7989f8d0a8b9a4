# Cinder: the API under uWSGI, scheduler, volume service and, where asked for, backups.
# Volumes are in the backends, what is known of them in the database: a restart costs the
# requests that are under way. No pod has powers, so that none can attach block devices:
# backends are Ceph, a file system that Kubernetes mounts, or what another driver reaches
# over the network. LVM and iSCSI do not work here.
definition "cinder" {
  description = "Volumes"

  input "backends" {
    type = map(object({
      type     = string
      pool     = optional(string, "volumes")
      share    = optional(string, "")
      settings = optional(map(string), {})
    }))
    nullable    = false
    description = "Where volumes are kept, by name. Type rbd: a pool of service.ceph. nfs: a share, HOST:/PATH, that the volume \"files\" of the pod is. other: what settings say, with volume_driver. settings are options of the driver."

    validation {
      condition     = length(input.backends) > 0 && alltrue([for b in input.backends : contains(["rbd", "nfs", "other"], b.type)])
      error_message = "Cinder needs at least one backend, of type rbd, nfs or other. With other, settings name the volume_driver."
    }

    validation {
      condition     = alltrue([for b in input.backends : b.type != "other" || contains(keys(b.settings), "volume_driver")])
      error_message = "A backend of type other needs volume_driver among its settings."
    }

    validation {
      condition     = alltrue([for b in input.backends : can(regex("^[^:]+:/", b.share)) if b.type == "nfs"]) && length([for b in input.backends : b if b.type == "nfs"]) <= 1
      error_message = "A backend of type nfs needs a share, such as \"nas.example.org:/volumes\", and there can be only one: the pod has one volume for files."
    }
  }

  input "backup" {
    type        = object({ type = string, pool = optional(string, "backups"), settings = optional(map(string), {}) })
    default     = null
    description = "Where backups are kept; by default there are none. Type ceph: a pool of service.ceph. other: what settings say, with backup_driver."

    validation {
      condition     = input.backup == null || try(input.backup.type == "ceph" || input.backup.type == "other" && contains(keys(input.backup.settings), "backup_driver"), false)
      error_message = "Backups are of type ceph, or of type other with backup_driver among the settings."
    }
  }

  locals {
    rbd     = anytrue([for b in input.backends : b.type == "rbd"])
    nas     = split(":", join("", [for b in input.backends : b.share if b.type == "nfs"]))
    mounts  = "/var/lib/cinder/mnt"
    backup  = try(input.backup.type, "")
    options = try(input.backup.settings, {})
    auth    = merge(user.cinder.auth, { interface = "internal" })

    drivers = {
      rbd = {
        volume_driver            = "cinder.volume.drivers.rbd.RBDDriver"
        rbd_user                 = "cinder"
        rbd_ceph_conf            = "/etc/ceph/ceph.conf"
        rbd_secret_uuid          = try(service.ceph.secret_uuid, null)
        rados_connect_timeout    = 5
        report_discard_supported = true
      }
      nfs = {
        volume_driver               = "cinder.volume.drivers.nfs.NfsDriver"
        nas_host                    = local.nas[0]
        nas_share_path              = join(":", slice(local.nas, 1, length(local.nas)))
        nfs_mount_point_base        = local.mounts
        nas_secure_file_operations  = true
        nas_secure_file_permissions = false # Nova is another user
      }
      other = {}
    }
  }

  port "api" {
    number    = 8776
    expose    = true
    node_port = 30776
  }

  database "cinder" {}
  queue "cinder" {}

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
    path        = "/etc/cinder/cinder.conf"
    secret_path = "/etc/cinder/cinder.conf.d/secrets.conf"
    values = {
      DEFAULT               = { use_stderr = true, transport_url = queue.cinder.url, glance_api_servers = try(service.glance.url, null) }
      database              = merge(local.database, { connection = database.cinder.url })
      keystone_authtoken    = merge(user.cinder.auth, user.cinder.authtoken, { service_type = "block-storage", service_token_roles_required = true })
      service_user          = merge(user.cinder.auth, { send_service_user_token = true })
      nova                  = local.auth
      glance                = cloud.release >= 2025.2 ? local.auth : null
      barbican              = { auth_endpoint = "${service.keystone.url}/v3", barbican_endpoint_type = "internal" }
      oslo_messaging_rabbit = queue.cinder.settings
      oslo_middleware       = local.oslo_middleware
      oslo_concurrency      = { lock_path = "/var/lib/cinder/tmp" }
      # Helpers that would run as root do without any power.
      cinder_sys_admin = { capabilities = "" }
      privsep_osbrick  = { capabilities = "" }
    }
  }

  config "cinder-api.conf" {
    from   = "cinder.conf"
    values = { oslo_messaging_rabbit = local.rabbit_uwsgi }
  }

  config "cinder-scheduler.conf" {
    from = "cinder.conf"
  }

  config "cinder-volume.conf" {
    from = "cinder.conf"
    values = merge({ DEFAULT = { enabled_backends = keys(input.backends) } }, {
      for name, b in input.backends : name => merge({ volume_backend_name = name }, local.drivers[b.type], b.type == "rbd" ? { rbd_pool = b.pool } : {}, b.settings)
    })
  }

  config "cinder-backup.conf" {
    enabled = local.backup != ""
    from    = "cinder.conf"
    values = { DEFAULT = local.backup != "ceph" ? local.options : merge({
      backup_driver                = "cinder.backup.drivers.ceph.CephBackupDriver"
      backup_ceph_conf             = "/etc/ceph/ceph.conf"
      backup_ceph_user             = "cinder-backup"
      backup_ceph_pool             = input.backup.pool
      backup_ceph_chunk_size       = 134217728
      restore_discard_excess_bytes = true
    }, local.options) }
  }

  config "ceph.conf" {
    enabled = local.rbd || local.backup == "ceph"
    format  = "raw"
    path    = "/etc/ceph/ceph.conf"
    content = service.ceph.conf
  }

  config "ceph.client.cinder.keyring" {
    enabled = local.rbd
    format  = "raw"
    path    = "/etc/ceph/ceph.client.cinder.keyring"
    content = service.ceph.keyrings["cinder"]
  }

  config "ceph.client.cinder-backup.keyring" {
    enabled = local.backup == "ceph"
    format  = "raw"
    path    = "/etc/ceph/ceph.client.cinder-backup.keyring"
    content = service.ceph.keyrings["cinder-backup"]
  }

  # Cinder asks sudo to look at images and the like. A pod cannot become another user, and
  # need not: what it looks at is its own.
  config "sudo" {
    format  = "raw"
    path    = "/var/lib/kolla/venv/bin/sudo"
    mode    = "0555"
    content = file("${path.module}/cinder/sudo.sh")
  }

  config "cinder-api-uwsgi.ini" {
    path   = "/etc/cinder/cinder-api-uwsgi.ini"
    values = { uwsgi = merge(local.uwsgi, { http-socket = "0.0.0.0:${port.api}", module = "cinder.wsgi.api:application" }) }
  }

  config "policy.yaml" {
    format   = "yaml"
    path     = "/etc/cinder/policy.yaml"
    optional = true
  }

  # What the jobs read, so that they do not run again for the rest.
  config "cinder-db.conf" {
    from   = "cinder.conf"
    only   = ["database"]
    values = { DEFAULT = { use_stderr = true } }
  }

  job "db-sync" {
    image   = "cinder-api"
    user    = 42407
    command = ["cinder-manage", "db", "sync"]
    config  = ["cinder-db.conf"]
  }

  # What older releases wrote is brought up to date when none of them runs any more.
  job "db-online" {
    when    = "after"
    image   = "cinder-api"
    user    = 42407
    command = ["cinder-manage", "db", "online_data_migrations"]
    config  = ["cinder-db.conf"]
  }

  workload "api" {
    kind         = "Deployment"
    image        = "cinder-api"
    user         = 42407
    command      = ["uwsgi", "--ini", "/etc/cinder/cinder-api-uwsgi.ini"]
    ports        = ["api"]
    config       = ["cinder-api.conf", "cinder-api-uwsgi.ini", "policy.yaml"]
    writable     = ["/var/lib/cinder"]
    grace_period = 60

    resources {
      requests = { cpu = "100m", memory = "384Mi" }
      limits   = { cpu = "2", memory = "1Gi" }
    }

    startup {
      http    = "/healthcheck"
      port    = "api"
      period  = 2
      retries = 60
    }

    ready {
      http = "/healthcheck"
      port = "api"
    }

    live {
      tcp     = "api"
      period  = 30
      retries = 4
    }
  }

  # The daemons have pods of fixed names, by which the database knows them. They are ready
  # while they have a connection to the queue. When the queue is gone no restart helps.
  workload "scheduler" {
    kind         = "StatefulSet"
    image        = "cinder-scheduler"
    user         = 42407
    command      = ["cinder-scheduler"]
    config       = ["cinder-scheduler.conf", "policy.yaml"]
    writable     = ["/var/lib/cinder"]
    grace_period = 60

    resources {
      requests = { cpu = "50m", memory = "256Mi" }
      limits   = { cpu = "1", memory = "1Gi" }
    }

    ready { exec = ["healthcheck_port", "cinder-scheduler", tostring(queue.cinder.port)] }
  }

  # One pod: another host would not know the volumes of the first one.
  workload "volume" {
    kind         = "StatefulSet"
    image        = "cinder-volume"
    max_replicas = 1
    user         = 42407
    command      = ["cinder-volume"]
    config       = ["cinder-volume.conf", "ceph.conf", "ceph.client.cinder.keyring", "sudo", "policy.yaml"]
    writable     = ["/var/lib/cinder"]
    grace_period = 120 # a volume that is being made is finished

    claim "files" {
      enabled = length(local.nas) > 1
      path    = "${local.mounts}/${md5(join(":", local.nas))}"
      size    = "100Gi"
    }

    resources {
      requests = { cpu = "100m", memory = "384Mi" }
      limits   = { cpu = "2", memory = "2Gi" }
    }

    ready { exec = ["healthcheck_port", "cinder-volume", tostring(queue.cinder.port)] }
  }

  workload "backup" {
    enabled      = local.backup != ""
    kind         = "StatefulSet"
    image        = "cinder-backup"
    max_replicas = 1
    user         = 42407
    command      = ["cinder-backup"]
    config       = ["cinder-backup.conf", "ceph.conf", "ceph.client.cinder.keyring", "ceph.client.cinder-backup.keyring", "sudo", "policy.yaml"]
    writable     = ["/var/lib/cinder"]
    grace_period = 120

    resources {
      requests = { cpu = "100m", memory = "512Mi" }
      limits   = { cpu = "2", memory = "2Gi" }
    }

    ready { exec = ["healthcheck_port", "cinder-backup", tostring(queue.cinder.port)] }
  }

  output "backups" {
    value = local.backup != ""
  }
}
