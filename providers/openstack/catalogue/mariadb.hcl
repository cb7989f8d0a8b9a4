# MariaDB, one server on one volume, or a cluster of three or five (Galera), each with a volume. A
# step beside or before every start sets the root password, so that another password takes a restart.
# The server itself never sees the password.
#
# Clients of a cluster connect to proxies, which send all of them to one member: with several that
# write, transactions of OpenStack fail, and a client may not read what it has just written.
definition "mariadb" {
  from        = "exported"
  description = "SQL database of the other services"
  stage       = "data"

  input "buffer_pool" {
    type        = string
    default     = "2G"
    nullable    = false
    description = "Memory for data, as innodb_buffer_pool_size takes it. The server's `resources` have to be larger."
  }

  input "max_connections" {
    type        = number
    default     = 10000 # as in kolla-ansible
    nullable    = false
    description = "Number of clients at once. Each takes memory."
  }

  input "redo_log" {
    type        = string
    default     = null
    description = "Size of the redo log (innodb_log_file_size); by default 96M. A larger one evens out writes, and makes a start after a power cut longer."
  }

  input "binary_log_days" {
    type        = number
    default     = null
    description = "Days for which the binary log is kept, on the volume: for replicas, and to restore a point in time. By default there is none."
  }

  input "write_set_cache" {
    type        = string
    default     = "512M"
    nullable    = false
    description = "Size of the last changes that each member of a cluster keeps (gcache.size). A member that missed more gets a whole copy."
  }

  locals {
    cluster = self.replicas > 1
    members = join(" ", self.members.server)
    # Where a plan asks what there is: members, and the first one while it still runs without a cluster.
    # One elsewhere has none.
    answering = try(local.cluster ? concat(
      [for member in self.members.server : "${member}:${port.member}"], ["${self.members.server[0]}:${port.mysql}"],
    ) : [for member in self.members.server : "${member}:${port.mysql}"], [])
    debian = startswith(cloud.distro, "debian") || startswith(cloud.distro, "ubuntu")

    # Statements of more than ten seconds, where a collector finds them.
    slow_log = cloud.logging == "none" ? {} : {
      slow_query_log      = "ON"
      slow_query_log_file = cloud.logging == "sidecar" ? "/var/log/kolla/server.slow.log" : "/dev/stderr"
    }
    binary_log = input.binary_log_days == null ? {} : {
      log_bin                    = "/var/lib/mysql/binlog"
      binlog_format              = "ROW"
      server_id                  = 1
      sync_binlog                = 1
      binlog_expire_logs_seconds = input.binary_log_days * 86400
      log_slave_updates          = "ON" # also what other members of a cluster have written
    }

    galera = local.cluster ? {
      binlog_format            = "ROW"
      innodb_autoinc_lock_mode = 2
      wsrep_on                 = "ON"
      wsrep_provider           = "/usr/lib${local.debian ? "" : "64"}/galera/libgalera_smm.so"
      wsrep_cluster_name       = self.name
      wsrep_cluster_address    = "gcomm://${join(",", [for member in self.members.server : "${member}:${port.group}"])}"
      wsrep_sst_method         = "mariabackup"
      # Through the socket, where the user mysql needs no password.
      wsrep_sst_auth = "mysql:"
      # Rather not the first member, to which clients write. The comma: if need be, it is.
      wsrep_sst_donor     = "${join(",", reverse([for member in self.members.server : split(".", member)[0]]))},"
      wsrep_slave_threads = 4
      # The script of the members decides who starts a cluster. Old views do not: members with
      # different ones wait for each other for ever.
      wsrep_provider_options = "\"gcache.size=${input.write_set_cache};gcache.recover=yes;pc.recovery=FALSE;gmcast.listen_addr=tcp://0.0.0.0:${port.group}\""
    } : {}
  }

  port "mysql" {
    number = 3306
  }

  # Where members of a cluster answer queries.
  port "member" {
    enabled = local.cluster
    number  = 3307
  }

  # Where they tell how they are. A proxy asks here.
  port "state" {
    enabled = local.cluster
    number  = 4566
  }

  port "group" {
    enabled = local.cluster
    number  = 4567
  }

  # The changes that a member missed.
  port "changes" {
    enabled = local.cluster
    number  = 4568
  }

  # Whole copies.
  port "copy" {
    enabled = local.cluster
    number  = 4444
  }

  port "metrics" {
    number = 9104
  }

  secret "exporter" {
    enabled = cloud.metrics
  }

  secret "root" {
    loss = "a database that is still there keeps the old password, and lets no job in"
  }

  config "my.cnf" {
    format = "ini"
    path   = "/etc/mysql/my.cnf"
    values = {
      mysqld = merge({
        datadir                 = "/var/lib/mysql"
        socket                  = "/run/mysqld/mysqld.sock"
        pid_file                = "/run/mysqld/mysqld.pid"
        bind_address            = "0.0.0.0"
        port                    = local.cluster ? port.member : port.mysql
        skip_name_resolve       = 1
        max_connections         = input.max_connections
        character_set_server    = "utf8mb3"
        default_storage_engine  = "innodb"
        innodb_buffer_pool_size = input.buffer_pool
        innodb_log_file_size    = input.redo_log
        # With it, ON from 11.6.2 on, requests at once fail: "Record has changed since last read".
        loose_innodb_snapshot_isolation = "OFF" # loose: servers before 10.6.18 do not know it
      }, local.binary_log, local.galera, local.slow_log)
      client = {
        socket = "/run/mysqld/mysqld.sock"
      }
      mariadb-backup = local.cluster ? { socket = "/run/mysqld/mysqld.sock" } : null
    }
  }

  config "haproxy.cfg" {
    enabled = local.cluster
    format  = "raw"
    path    = "/etc/haproxy/haproxy.cfg"
    content = templatefile("${path.module}/mariadb/haproxy.cfg.tmpl", {
      connections = input.max_connections
      listen      = port.mysql
      health      = 3308
      port        = port.member
      state       = port.state
      members     = [for member in self.members.server : "${split(".", member)[0]}.${self.namespace}"]
    })
  }

  workload "server" {
    data_version {
      program = "MariaDB"
      version = image.release >= 2025.2 ? "11.4" : "10.11"
      from    = ["10.11"]
    }

    kind   = "StatefulSet"
    logs   = "files"
    spread = local.cluster ? "required" : "preferred" # a node that is lost takes one member
    image  = "mariadb-server"
    user   = 42434
    command = local.cluster ? ["sh", "-ec", file("${path.module}/mariadb/member.sh"), "member", file("${path.module}/mariadb/install.sh")] : [
      "sh", "-c", local.many_files, "sh", "mariadbd", "--defaults-file=/etc/mysql/my.cnf"
    ]
    env = local.cluster ? {
      MEMBERS     = local.members
      POD_IP      = pod.ip
      CLIENT_PORT = port.mysql # of a server without a cluster
      STATE_PORT  = port.state
      GROUP_PORT  = port.group
      COPY_PORT   = port.copy
    } : {}
    ports         = local.cluster ? ["member", "state", "group", "changes", "copy"] : ["mysql"]
    own_addresses = local.cluster
    scale_down = templatefile("${path.module}/mariadb/leave.txt.tmpl", {
      namespace = self.namespace
      service   = self.name
      replicas  = self.replicas
    })
    config       = ["my.cnf"]
    writable     = ["/run/mysqld"]
    grace_period = 120

    init "restored" {
      command = ["sh", "-ec", file("${path.module}/mariadb/restored.sh")]
    }

    init "install" {
      enabled = !local.cluster
      command = ["sh", "-ec", file("${path.module}/mariadb/install.sh")]
    }

    init "root" {
      enabled = !local.cluster
      command = ["sh", "-ec", file("${path.module}/mariadb/root.sh")]

      mount "root" {
        path = "/run/secrets/root"
      }
    }

    # In a cluster, what a member writes while it is not in it would stay with this member.
    sidecar "root" {
      enabled  = local.cluster
      image    = "mariadb-server"
      user     = 42434
      command  = ["sh", "-ec", file("${path.module}/mariadb/member-root.sh")]
      env      = { MYSQL_TCP_PORT = port.member }
      config   = ["my.cnf"]
      writable = ["/run/mysqld"]

      mount "root" {
        path = "/run/secrets/root"
      }
    }

    claim "data" {
      path = "/var/lib/mysql"
      size = "10Gi"
    }

    backup {
      what     = "databases"
      save     = ["sh", "-ec", file("${path.module}/mariadb/save.sh")]
      stage    = ["sh", "-ec", file("${path.module}/mariadb/stage.sh"), "stage"]
      restore  = ["sh", "-ec", file("${path.module}/mariadb/restore.sh")]
      offline  = true
      mismatch = chomp(file("${path.module}/mariadb/mismatch.txt"))
    }

    # More than innodb_buffer_pool_size, which takes memory as it fills. Change them together.
    resources {
      requests = { cpu = "250m", memory = "3Gi" }
      limits   = { memory = "6Gi" }
    }

    # A member of a cluster may wait for others, or get a copy, for hours.
    startup {
      enabled = !local.cluster
      period  = 2
      retries = 150
    }

    ready {
      exec = local.cluster ? ["sh", "-ec", file("${path.module}/mariadb/member-ready.sh")] : [
        "mariadb-admin", "--defaults-file=/etc/mysql/my.cnf", "ping"
      ]
      period = local.cluster ? 5 : 10
    }

    live {
      tcp     = local.cluster ? null : "mysql"
      exec    = local.cluster ? ["sh", "-ec", file("${path.module}/mariadb/member-live.sh")] : null
      period  = local.cluster ? 10 : 30
      retries = local.cluster ? 3 : 4
    }

    lifecycle {
      precondition {
        condition     = contains([1, 3, 5], self.replicas)
        error_message = "MariaDB runs one, three or five members, not ${self.replicas}: with an even number, no more may be away than with one less."
      }
    }
  }

  # Sends all clients to the first member that is in sync.
  workload "proxy" {
    enabled      = local.cluster
    kind         = "Deployment"
    logs         = "console"
    image        = "haproxy"
    max_replicas = 2
    user         = 42454
    command      = ["sh", "-ec", file("${path.module}/mariadb/proxy.sh")]
    ports        = ["mysql"]
    config       = ["haproxy.cfg"]
    grace_period = 60

    resources {
      requests = { cpu = "100m", memory = "64Mi" }
      limits   = { memory = "1Gi" }
    }

    # It has a member to which it sends clients. At first it does not know.
    ready {
      exec   = ["curl", "-q", "--silent", "--fail", "--noproxy", "*", "--max-time", "4", "--output", "/dev/null", "http://127.0.0.1:3308/"]
      delay  = 3
      period = 5
    }
  }

  # One for each member. It is no sidecar: neither its failure nor its next image concern a database.
  workload "exporter" {
    kind  = "StatefulSet"
    image = "prometheus-mysqld-exporter"
    user  = 42472
    command = concat(local.exporter, [
      "/opt/mysqld_exporter/mysqld_exporter",
      "--mysqld.username=exporter",
      "--web.listen-address=:${port.metrics}",
      # They need more than the right to log in.
      "--no-collect.slave_status",
      "--no-collect.info_schema.innodb_cmp",
      "--no-collect.info_schema.innodb_cmpmem",
      "--no-collect.info_schema.query_response_time",
    ])
    env = {
      FLAG                     = "--mysqld.address"
      MEMBERS                  = join(" ", [for member in self.members.server : "${member}:${local.cluster ? port.member : port.mysql}"])
      MYSQLD_EXPORTER_PASSWORD = secret.exporter.value
      POD                      = pod.name
    }
  }

  # Brings the server's own tables to the version of a new image.
  job "upgrade" {
    when  = "after"
    runs  = "upgrade"
    image = "mariadb-server"
    user  = 42434
    command = ["sh", "-ec", join("", concat(
      local.cluster ? ["for MYSQL_HOST in $MEMBERS; do\n"] : [], # what it changes is not replicated
      [file("${path.module}/mariadb/login.sh"), file("${path.module}/mariadb/upgrade.sh")],
      local.cluster ? ["done\n"] : []
    ))]
    writable = ["/var/lib/mysql"] # the client notes the version where the server has its data
    timeout  = 3600
    env      = local.cluster ? { MEMBERS = local.members, MYSQL_TCP_PORT = port.member } : { MYSQL_HOST = self.host, MYSQL_TCP_PORT = port.mysql }

    mount "root" {
      path = "/run/secrets/root"
    }
  }

  # The exporter's user, which may log in and nothing else.
  job "exporter" {
    enabled = cloud.metrics
    when    = "after"
    image   = "mariadb-server"
    user    = 42434
    command = ["sh", "-ec", join("", [file("${path.module}/mariadb/login.sh"), file("${path.module}/mariadb/exporter.sh")])]
    env = {
      MYSQL_HOST        = self.host
      MYSQL_TCP_PORT    = port.mysql
      EXPORTER_PASSWORD = secret.exporter.value
    }

    mount "root" {
      path = "/run/secrets/root"
    }
  }

  # What a `database` block of another service becomes.
  provides "database" {
    url       = "mysql+pymysql://${database.user}:${database.password}@${self.host}:${port.mysql}/${database.name}"
    addresses = try(local.answering, []) # of pods, which a server elsewhere does not have

    job "create" {
      image = "mariadb-server"
      user  = 42434
      env = {
        MYSQL_HOST     = self.host
        MYSQL_TCP_PORT = port.mysql
        DB_NAME        = database.name
        DB_USER        = database.user
        DB_PASSWORD    = database.password
      }

      mount "root" {
        path = "/run/secrets/root"
      }

      command = ["sh", "-ec", join("", [file("${path.module}/mariadb/login.sh"), file("${path.module}/mariadb/create.sh")])]

      makes_database {
        addresses     = local.answering
        password      = secret.root.value
        name          = database.name
        character_set = "utf8mb3"
        user          = database.user
        user_password = database.password
      }
    }
  }
}
