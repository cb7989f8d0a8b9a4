# Keystone under uWSGI. Fernet and credential keys are generated Secrets, mounted
# where Keystone looks for its key repositories.
definition "keystone" {
  from        = "database-service"
  description = "Identity: users, projects, tokens, and the catalogue of services"

  locals {
    uid = 42425
  }

  port "public" {
    number    = 5000
    expose    = true
    node_port = 30500
  }

  secret "admin" {}

  # Keystone reads the keys from their files whenever it needs one, so pods go on when they rotate.
  secret "fernet" {
    kind   = "fernet"
    count  = 3
    rotate = 30
    keep   = ["keystone.conf/token/expiration", "keystone.conf/token/allow_expired_window"]
    loss   = "all tokens become invalid"
  }

  # Job "credential-migrate" follows each rotation. Until kubelet has brought the new keys, pods write
  # with the former primary key, so that key stays for one more rotation with its job.
  secret "credential" {
    kind  = "fernet"
    count = 4
    keep  = ["86400"]
    loss  = "the credentials that Keystone has stored can never be read again"
  }

  config "keystone.conf" {
    values = {
      DEFAULT = {
        debug = false
        # The defaults of oslo.log and Keystone, and one more: the directory of a mounted
        # Secret is open to all of its pod, and Keystone would warn of that at every
        # request.
        default_log_levels = join(",", [
          "amqp=WARN", "dogpile=INFO", "iso8601=WARN", "keystoneauth=WARN",
          "keystonemiddleware=WARN", "oslo.cache=INFO", "oslo.messaging=INFO",
          "oslo_messaging=INFO", "oslo_policy=INFO", "routes=INFO", "sqlalchemy=WARN",
          "stevedore=WARN", "urllib3.connectionpool=WARN", "urllib3.util.retry=WARN",
          "keystone.common.fernet_utils=ERROR",
        ])
      }
      # As much as bcrypt takes: with more, Keystone warns of that at every login.
      identity = { max_password_length = 72 }
      token = {
        provider             = "fernet"
        expiration           = 86400
        allow_expired_window = 172800
      }
      fernet_tokens = {
        key_repository  = "/etc/keystone/fernet-keys/"
        max_active_keys = 3
      }
      credential = { key_repository = "/etc/keystone/credential-keys/" }
      cache = {
        enabled          = true
        backend          = "oslo_cache.memcache_pool"
        memcache_servers = service.memcached.servers
      }
    }
  }

  config "keystone-uwsgi.ini" {
    path = "/etc/keystone/keystone-uwsgi.ini"
    values = {
      uwsgi = merge(local.uwsgi, {
        http-socket = "0.0.0.0:${port.public}"
        module      = "keystone.wsgi.api:application"
      })
    }
  }

  config "keystone-db.conf" {}

  config "keystone-bootstrap.conf" {
    from   = "keystone.conf"
    only   = ["cache", "credential", "database", "fernet_tokens", "identity"]
    values = { DEFAULT = { use_stderr = true } }
  }

  job "upgrade-check" {
    from   = "check"
    image  = "keystone"
    config = ["keystone.conf"]

    mount "fernet" { path = "/etc/keystone/fernet-keys" } # it does not start without
    mount "credential" { path = "/etc/keystone/credential-keys" }
  }

  # Only adds to the tables: the pods of the release before go on with them until all are new, and
  # the job after that takes away what only they need.
  job "db-sync" {
    from    = "database"
    image   = "keystone"
    command = ["keystone-manage", "db_sync", "--expand"]
  }

  job "db-contract" {
    from    = "database"
    when    = "after"
    image   = "keystone"
    command = ["keystone-manage", "db_sync", "--contract"]
  }

  # Creates the administrator, the region and Keystone's own endpoints, and brings
  # them up to date when they exist.
  job "bootstrap" {
    image  = "keystone"
    user   = local.uid
    config = ["keystone-bootstrap.conf"]

    # keystone-manage takes the password from its arguments or its environment, which
    # others can read. Here only the process itself has it.
    command = ["python3", "-c", file("${path.module}/keystone/bootstrap.py")]

    mount "admin" { path = "/run/secrets/admin" }
    mount "fernet" { path = "/etc/keystone/fernet-keys" }
    mount "credential" { path = "/etc/keystone/credential-keys" }

    env = {
      OS_BOOTSTRAP_USERNAME     = "admin"
      OS_BOOTSTRAP_PROJECT_NAME = "admin"
      OS_BOOTSTRAP_ROLE_NAME    = "admin"
      OS_BOOTSTRAP_SERVICE_NAME = endpoint.identity.name
      OS_BOOTSTRAP_REGION_ID    = cloud.region
      OS_BOOTSTRAP_INTERNAL_URL = endpoint.identity.url
      OS_BOOTSTRAP_PUBLIC_URL   = endpoint.identity.public_url
    }

    registers {
      url       = endpoint.identity.url
      password  = secret.admin.value
      region    = cloud.region
      endpoints = [endpoint.identity]
    }
  }

  # Encrypts stored credentials with the new primary key. keystone-manage loads all of Keystone, which
  # wants keys for tokens, too. The job makes no tokens, and does not run again for their keys.
  job "credential-migrate" {
    when    = "after"
    runs    = "rotation"
    image   = "keystone"
    user    = local.uid
    config  = ["keystone-bootstrap.conf"]
    command = ["keystone-manage", "credential_migrate"]
    env = {
      OS_FERNET_RECEIPTS__KEY_REPOSITORY = "/etc/keystone/credential-keys/"
      OS_FERNET_TOKENS__KEY_REPOSITORY   = "/etc/keystone/credential-keys/"
    }

    mount "credential" { path = "/etc/keystone/credential-keys" }
  }

  workload "api" {
    from     = "uwsgi"
    image    = "keystone"
    command  = ["uwsgi", "--ini", "/etc/keystone/keystone-uwsgi.ini"]
    ports    = ["public"]
    config   = ["keystone.conf", "keystone-uwsgi.ini", "policy.yaml"]
    writable = []
    drain    = 10 # a token that is being issued cannot be asked for twice

    mount "fernet" { path = "/etc/keystone/fernet-keys" }
    mount "credential" { path = "/etc/keystone/credential-keys" }

    resources {
      requests = { cpu = "250m", memory = "512Mi" }
      limits   = { cpu = "2", memory = "1Gi" }
    }

    ready {
      http = "/v3"
    }

    live {
      exec = concat(local.alive, ["http://127.0.0.1:${port.public}/"])
    }
  }

  # What bootstrap registers.
  endpoint "identity" {
    port = "public"
    path = "/v3"
  }

  # What a `user` block of another service becomes: auth is how it logs in, and authtoken
  # what it needs beside that to check the tokens of others.
  provides "user" {
    auth = {
      auth_type           = "password"
      auth_url            = "${self.url}/v3"
      username            = user.name
      password            = user.password
      user_domain_name    = user.domain
      project_name        = user.project
      project_domain_name = user.project == null ? null : "Default"
      domain_name         = user.project == null ? user.domain : null
      region_name         = cloud.region
    }
    authtoken = {
      www_authenticate_uri         = "${self.public_url}/v3"
      service_token_roles_required = true # only users with the role service speak for other users
      memcached_servers            = service.memcached.servers
      memcache_security_strategy   = "ENCRYPT"
      memcache_secret_key          = user.password
    }
  }

  locals {
    register = ["python3", "-c", file("${path.module}/keystone/register.py")]
    login = {
      OS_AUTH_URL      = "${self.url}/v3"
      OS_REGION_NAME   = cloud.region
      OS_PASSWORD_FILE = "/run/secrets/admin/value"
    }
  }

  # Once for each service with blocks `user`, `identity_role` or `endpoint`. Only these
  # jobs have the administrator's password.
  provides "registration" {
    job "users" {
      image     = "keystone"
      user      = local.uid
      command   = local.register
      passwords = "/run/secrets/passwords"
      env = merge(local.login, {
        PASSWORDS = "/run/secrets/passwords"
        WANTED = jsonencode({
          owner = registration.owner
          users = registration.users
          roles = registration.roles
        })
      })

      mount "admin" { path = "/run/secrets/admin" }

      registers {
        url      = local.login.OS_AUTH_URL
        password = secret.admin.value
        region   = cloud.region
        owner    = registration.owner
        users    = registration.users
        roles    = registration.roles
      }
    }

    # Clients find the service when it is ready.
    job "endpoints" {
      when    = "after"
      image   = "keystone"
      user    = local.uid
      command = local.register
      env     = merge(local.login, { WANTED = jsonencode({ owner = registration.owner, endpoints = registration.endpoints }) })

      mount "admin" { path = "/run/secrets/admin" }

      registers {
        url       = local.login.OS_AUTH_URL
        password  = secret.admin.value
        region    = cloud.region
        owner     = registration.owner
        endpoints = registration.endpoints
      }
    }

    # Users, services and endpoints of services that are gone.
    job "cleanup" {
      when    = "gone"
      image   = "keystone"
      user    = local.uid
      command = local.register
      env     = merge(local.login, { WANTED = jsonencode({ owner = cloud.name, there = registration }) })

      mount "admin" { path = "/run/secrets/admin" }
    }
  }

  output "admin_password" {
    value = secret.admin.value
  }
}
