# MariaDB, one server on one volume. The root password is set from the generated
# secret at every start: another password is another init.sql, and a restart.
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
        init_file               = "/etc/mysql/init.sql"
        skip_name_resolve       = 1
        max_connections         = 1024
        character_set_server    = "utf8mb3"
        default_storage_engine  = "innodb"
        innodb_buffer_pool_size = "256M"
      }
      client = {
        socket = "/run/mysqld/mysqld.sock"
      }
    }
  }

  config "init.sql" {
    format  = "raw"
    path    = "/etc/mysql/init.sql"
    content = <<-SQL
      CREATE USER IF NOT EXISTS 'root'@'%' IDENTIFIED BY '${secret.root.value}';
      ALTER USER 'root'@'%' IDENTIFIED BY '${secret.root.value}';
      GRANT ALL PRIVILEGES ON *.* TO 'root'@'%' WITH GRANT OPTION;
    SQL
  }

  workload "server" {
    kind         = "StatefulSet"
    image        = "mariadb-server"
    max_replicas = 1
    user         = 42434
    command      = ["mariadbd", "--defaults-file=/etc/mysql/my.cnf"]
    ports        = ["mysql"]
    config       = ["my.cnf", "init.sql"]
    writable     = ["/run/mysqld"]
    grace_period = 120

    init "install" {
      command = ["sh", "-ec", <<-SH
        # What is moved last says that the rest is complete.
        cd /var/lib/mysql
        test -d mysql && exit 0
        rm -rf .install
        mariadb-install-db --no-defaults --datadir=/var/lib/mysql/.install --auth-root-socket-user=mysql --skip-test-db
        for entry in $(ls .install | grep -vx mysql); do
          rm -rf "$entry"
          mv ".install/$entry" .
        done
        mv .install/mysql .
        rm -rf .install
      SH
      ]
    }

    claim "data" {
      path = "/var/lib/mysql"
      size = "10Gi"
    }

    resources {
      requests = { cpu = "250m", memory = "512Mi" }
      limits   = { memory = "1Gi" }
    }

    startup {
      exec    = ["mariadb-admin", "--defaults-file=/etc/mysql/my.cnf", "ping"]
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

  # What a `database` block of another service becomes.
  provides "database" {
    url = "mysql+pymysql://${database.user}:${database.password}@${self.host}:${port.mysql}/${database.name}"

    job "create" {
      image = "mariadb-server"
      user  = 42434
      env = {
        MYSQL_HOST     = self.host
        MYSQL_TCP_PORT = port.mysql
        MYSQL_PWD      = secret.root.value
        DB_NAME        = database.name
        DB_USER        = database.user
        DB_PASSWORD    = database.password
      }
      command = ["sh", "-ec", <<-SH
        # Nodes learn of a server that has just become ready a moment later.
        for try in $(seq 60); do
          mariadb-admin --no-defaults --host="$MYSQL_HOST" --user=root --connect-timeout=5 --silent ping && break
          sleep 1
        done
        mariadb --no-defaults --host="$MYSQL_HOST" --user=root <<SQL
        CREATE DATABASE IF NOT EXISTS $DB_NAME CHARACTER SET utf8mb3;
        CREATE USER IF NOT EXISTS '$DB_USER'@'%' IDENTIFIED BY '$DB_PASSWORD';
        ALTER USER '$DB_USER'@'%' IDENTIFIED BY '$DB_PASSWORD';
        GRANT ALL PRIVILEGES ON $DB_NAME.* TO '$DB_USER'@'%';
        SQL
      SH
      ]
    }
  }
}
