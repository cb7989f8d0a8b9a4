# MariaDB, one server on one volume. A step before every start sets the root password,
# so that another password takes a restart. The server itself never sees the password.
definition "mariadb" {
  description = "SQL database of the other services"

  port "mysql" {
    number = 3306
  }

  secret "root" {
    loss = "a database that is still there keeps the old password, and lets no job in"
  }

  config "my.cnf" {
    format = "ini"
    path   = "/etc/mysql/my.cnf"
    values = {
      mysqld = {
        datadir                 = "/var/lib/mysql"
        socket                  = "/run/mysqld/mysqld.sock"
        pid_file                = "/run/mysqld/mysqld.pid"
        bind_address            = "0.0.0.0"
        port                    = port.mysql
        skip_name_resolve       = 1
        max_connections         = 10000 # as in kolla-ansible
        character_set_server    = "utf8mb3"
        default_storage_engine  = "innodb"
        innodb_buffer_pool_size = "2G"
        # With it, ON from 11.6.2 on, requests at once fail: "Record has changed since last read".
        loose_innodb_snapshot_isolation = "OFF" # loose: servers before 10.6.18 do not know it
      }
      client = {
        socket = "/run/mysqld/mysqld.sock"
      }
    }
  }

  workload "server" {
    kind         = "StatefulSet"
    image        = "mariadb-server"
    max_replicas = 1
    user         = 42434
    command      = ["sh", "-c", local.many_files, "sh", "mariadbd", "--defaults-file=/etc/mysql/my.cnf"]
    ports        = ["mysql"]
    config       = ["my.cnf"]
    writable     = ["/run/mysqld"]
    grace_period = 120

    init "restored" {
      command = ["sh", "-ec", file("${path.module}/mariadb/restored.sh")]
    }

    init "install" {
      command = ["sh", "-ec", file("${path.module}/mariadb/install.sh")]
    }

    init "root" {
      command = ["sh", "-ec", file("${path.module}/mariadb/root.sh")]

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
      mismatch = "Servers, volumes, images and networks that were made since are not in the databases any more: they go on, and nobody can see or delete them. Those that were deleted since are there again, without what they held. Passwords and tokens of users are those of then."
    }

    # More than innodb_buffer_pool_size, which takes memory as it fills. Change them together.
    resources {
      requests = { cpu = "250m", memory = "3Gi" }
      limits   = { memory = "6Gi" }
    }

    startup {
      period  = 2
      retries = 150
    }

    ready {
      exec = ["mariadb-admin", "--defaults-file=/etc/mysql/my.cnf", "ping"]
    }

    live {
      tcp     = "mysql"
      period  = 30
      retries = 4
    }
  }

  # Brings the server's own tables to the version of a new image.
  job "upgrade" {
    when    = "after"
    runs    = "upgrade"
    image   = "mariadb-server"
    user    = 42434
    command = ["sh", "-ec", join("", [file("${path.module}/mariadb/login.sh"), file("${path.module}/mariadb/upgrade.sh")])]
    timeout = 3600
    env     = { MYSQL_HOST = self.host, MYSQL_TCP_PORT = port.mysql }

    mount "root" {
      path = "/run/secrets/root"
    }
  }

  # What a `database` block of another service becomes.
  provides "database" {
    url = "mysql+pymysql://${database.user}:${database.password}@${self.host}:${port.mysql}/${database.name}"

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
    }
  }
}
