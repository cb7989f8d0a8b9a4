# Horizon under uWSGI. It stores nothing: sessions are in memcached, and people log in again when
# memcached loses them. A start takes minutes, because Kolla's image compresses static files.
definition "horizon" {
  description = "Dashboard for browsers"

  input "hosts" {
    type        = list(string)
    default     = []
    nullable    = false
    description = "Names and addresses for browsers, beside the exposure's host and the Service's names without the cluster's domain. Horizon refuses others."
  }

  port "web" {
    number    = 8080
    expose    = true
    node_port = 30080
  }

  secret "session" {
    loss = "everybody has to log in again"
  }

  locals {
    caches = compact(split(",", try(service.memcached.servers, "")))
  }

  config "_9998-kolla-settings.py" {
    format = "raw"
    path   = "/etc/openstack-dashboard/local_settings.d/_9998-kolla-settings.py"
    content = templatefile("${path.module}/horizon/settings.py.tmpl", {
      hosts = jsonencode(concat([
        self.ports.web.public_host, self.name, self.host, "${self.host}.svc", "localhost",
      ], input.hosts))
      keystone = jsonencode("${service.keystone.url}/v3")
      engine   = length(local.caches) > 0 ? "cache" : "signed_cookies"
      caches   = length(local.caches) > 0 ? jsonencode(local.caches) : ""
      servers  = contains(cloud.services, "nova")
      https    = startswith(self.ports.web.public_url, "https://")
      backups  = try(service.cinder.backups, false)
    })
  }

  # Python reads this file last, so its settings win.
  config "_9999-custom-settings.py" {
    format   = "raw"
    path     = "/etc/openstack-dashboard/local_settings.d/_9999-custom-settings.py"
    optional = true
  }

  config "horizon-uwsgi.ini" {
    path = "/etc/horizon/horizon-uwsgi.ini"
    values = {
      uwsgi = merge(local.uwsgi, {
        http-socket = "0.0.0.0:${port.web}"
        module      = "openstack_dashboard.wsgi:application"
        static-map  = "/static=/var/lib/kolla/venv/lib/python3/site-packages/static"
        harakiri    = 3600 # images are sent through Horizon
        uid         = "horizon"
        gid         = "horizon"
      })
    }
  }

  workload "web" {
    kind         = "Deployment"
    logs         = "console"
    image        = "horizon"
    user         = 42420
    start        = "kolla"
    reason       = "Kolla's start puts plug-ins in place and compresses static files, as root and in the image's own directories."
    command      = ["uwsgi", "/etc/horizon/horizon-uwsgi.ini"]
    ports        = ["web"]
    config       = ["_9998-kolla-settings.py", "_9999-custom-settings.py", "horizon-uwsgi.ini"]
    grace_period = 60
    env = { for name in [
      "blazar", "cloudkitty", "designate", "heat", "ironic", "magnum", "manila", "masakari", "mistral", "octavia", "tacker", "trove", "watcher",
    ] : "ENABLE_${upper(name)}" => contains(cloud.services, name) ? "yes" : "no" }

    mount "session" {
      path = "/run/secrets/session"
    }

    resources {
      requests = { cpu = "100m", memory = "512Mi" }
      limits   = { cpu = "2", memory = "2Gi" }
    }

    # Compressing the static files takes minutes on a slow node.
    startup {
      period  = 5
      timeout = 20
      retries = 110
    }

    ready {
      http    = "/auth/login/"
      port    = "web"
      timeout = 10
    }

    # Images that are sent may keep all processes busy.
    live {
      tcp     = "web"
      period  = 30
      retries = 4
    }
  }
}
