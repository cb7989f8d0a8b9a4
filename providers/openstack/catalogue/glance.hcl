# Glance: the API under eventlet up to 2025.2, and under uWSGI from 2026.1 on. With a store
# of type file the images are on a volume, there is one pod, and a restart is an outage. With
# other stores nothing is kept but what is being imported: an import that a restart
# interrupts has to be begun anew.
definition "glance" {
  from        = "api"
  description = "Images of disks, from which servers and volumes are made"

  input "stores" {
    type = map(object({
      type     = string
      pool     = optional(string, "images")
      settings = optional(map(string), {})
    }))
    default     = { file = { type = "file" } }
    nullable    = false
    description = "Where images are kept, by name: type (of glance_store, such as file, rbd, s3), pool of rbd, and settings, which are options of the store."

    validation {
      condition     = length(input.stores) > 0
      error_message = "Glance needs at least one store."
    }

    validation {
      condition     = alltrue([for s in input.stores : contains(local.types, s.type)])
      error_message = "Stores are of type ${join(", ", local.types)}.${join("", [for s in input.stores : didyoumean(s.type, local.types)])}"
    }

    validation {
      condition = alltrue([for name, s in input.stores : can(regex("^[a-z][a-z0-9_-]*$", name)) && !can(regex("^(os_glance|oslo)_", name)) &&
      !contains(["barbican", "cors", "database", "glance_store", "keystone_authtoken", "paste_deploy"], name)])
      error_message = "A store is a section of glance-api.conf: its name has lower-case letters, digits, - and _, and no other section has it."
    }
  }

  input "default_store" {
    type        = string
    default     = null
    description = "Store of new images; by default the first one by name."

    validation {
      condition     = input.default_store == null || contains(keys(input.stores), coalesce(input.default_store, "-"))
      error_message = "It is none of the stores: ${join(", ", keys(input.stores))}."
    }
  }

  input "ceph_user" {
    type        = string
    default     = "glance"
    nullable    = false
    description = "User of the stores of type rbd, whose keyring service.ceph has."
  }

  input "size" {
    type        = string
    default     = "50Gi"
    nullable    = false
    description = "Size of the volume of stores of type file."
  }

  locals {
    uid = 42415
    types = [
      "cinder", "file", "filesystem", "http", "https", "rbd", "s3", "s3+http", "s3+https", "swift", "swift+config",
      "swift+http", "swift+https", "vmware",
    ]
    file = anytrue([for s in input.stores : s.type == "file"])
    rbd  = anytrue([for s in input.stores : s.type == "rbd"])
    ini  = cloud.release >= 2026.1 # the API runs under uWSGI
  }

  port "api" {
    number    = 9292
    node_port = 30292
  }

  endpoint "image" {
    port = "api"
  }

  # There is one file.
  config "glance.conf" {
    enabled = false
  }

  config "glance-api.conf" {
    from = null
    path = "/etc/glance/glance-api.conf"
    # Where the API looks under uWSGI too, and glance-manage.
    secret_path = "/etc/glance/glance.conf.d/secrets.conf"
    values = merge({
      DEFAULT = {
        debug            = false
        use_stderr       = true
        bind_port        = local.ini ? null : port.api
        workers          = local.ini ? null : 2
        enabled_backends = [for name, s in input.stores : "${name}:${s.type}"]
        # Nova and Cinder make a copy within Ceph, if they may know where an image is.
        show_image_direct_url = length(input.stores) > 0 && alltrue([for s in values(input.stores) : s.type == "rbd"]) ? true : null
      }
      database                = merge(local.database, { connection = database.glance.url })
      keystone_authtoken      = merge(user.glance.auth, user.glance.authtoken, { service_type = "image" })
      paste_deploy            = { flavor = "keystone" }
      glance_store            = { default_backend = input.default_store != null ? input.default_store : try(keys(input.stores)[0], "") }
      os_glance_staging_store = { filesystem_store_datadir = "/var/lib/glance/staging" }
      os_glance_tasks_store   = { filesystem_store_datadir = "/var/lib/glance/tasks_work_dir" }
      oslo_concurrency        = { lock_path = "/var/lib/glance/tmp" }
      oslo_middleware         = { enable_proxy_headers_parsing = startswith(self.public_url, "https://") }
      oslo_policy             = local.oslo_policy
      barbican = contains(cloud.services, "barbican") ? {
        auth_endpoint          = "${service.keystone.url}/v3"
        barbican_endpoint_type = "internal"
      } : null
      }, {
      for name, s in input.stores : name => merge(
        s.type == "file" ? { filesystem_store_datadir = "/var/lib/glance/${name == "file" ? "images" : name}" } : {},
        s.type == "rbd" ? {
          rbd_store_pool      = s.pool
          rbd_store_user      = input.ceph_user
          rbd_store_ceph_conf = "/etc/ceph/ceph.conf"
        } : {},
        s.settings,
      )
    })
  }

  config "glance-api-uwsgi.ini" {
    enabled = local.ini
    values = {
      # Uploads come in chunks, which only uWSGI's own router takes in. A process is busy for
      # as long as an image is sent, and pods that are told to stop wait for it. So there are
      # more processes, and no limit of time.
      uwsgi = {
        http                = "0.0.0.0:${port.api}"
        http-auto-chunked   = true
        http-chunked-input  = true
        http-raw-body       = true
        http-socket         = null
        http-timeout        = 600
        chunked-input-limit = 67108864
        processes           = 8
        harakiri            = null
        harakiri-verbose    = null
        worker-reload-mercy = 240
      }
    }
  }

  config "policy.yaml" {}

  config "glance-image-import.conf" {
    format   = "raw"
    path     = "/etc/glance/glance.conf.d/glance-image-import.conf"
    optional = true
  }

  config "property-protections-rules.conf" {
    format   = "raw"
    path     = "/etc/glance/property-protections-rules.conf"
    optional = true
  }

  config "ceph.conf" {
    enabled = local.rbd
    format  = "raw"
    path    = "/etc/ceph/ceph.conf"
    content = service.ceph.conf
  }

  config "ceph.client.glance.keyring" {
    enabled   = local.rbd
    format    = "raw"
    path      = "/etc/ceph/ceph.client.${input.ceph_user}.keyring"
    sensitive = true
    content   = service.ceph.keyrings[input.ceph_user]
  }

  config "glance-db.conf" {
    from = "glance-api.conf"
  }

  # There is no job upgrade-check: glance-status fails where stores are not declared in its own file.
  job "db-expand" {
    from    = "database"
    command = ["sh", "-ec", file("${path.module}/glance/expand.sh")]
  }

  job "db-contract" {
    from    = "database"
    when    = "after"
    command = ["glance-manage", "db", "contract"]
  }

  workload "api" {
    kind         = local.file ? "StatefulSet" : "Deployment"
    max_replicas = local.file ? 1 : null
    command = concat(["sh", "-ec", file("${path.module}/glance/api.sh"), tostring(port.api)],
    local.ini ? ["uwsgi", "--ini", "/etc/glance/glance-api-uwsgi.ini"] : ["glance-api"])
    config = [
      "glance-api.conf", "glance-api-uwsgi.ini", "policy.yaml", "glance-image-import.conf",
      "property-protections-rules.conf", "ceph.conf", "ceph.client.glance.keyring",
    ]
    writable     = local.file ? [] : ["/var/lib/glance"]
    grace_period = 300

    claim "data" {
      enabled = local.file
      path    = "/var/lib/glance"
      size    = input.size
    }

    backup {
      enabled  = local.file
      what     = "files of images"
      save     = ["sh", "-ec", file("${path.module}/glance/save.sh")]
      stage    = ["sh", "-ec", file("${path.module}/glance/stage.sh"), "stage"]
      restore  = ["sh", "-ec", file("${path.module}/glance/restore.sh")]
      mismatch = "Files of images that were made since stay, although the databases of the backup do not know these images."
    }

    resources {
      requests = { cpu = "100m", memory = local.ini ? "1Gi" : "384Mi" }
      limits   = { cpu = "2", memory = local.ini ? "2Gi" : "1Gi" }
    }

    # Under uWSGI, long uploads may keep all processes busy.
    live {
      tcp     = "api"
      period  = 30
      timeout = null
      retries = 4
    }
  }
}
