definition "mariadb" {
  description = "SQL database"

  port "mysql" {
    number = 3306
  }

  secret "root" {}

  workload "server" {
    kind         = "StatefulSet"
    image        = "mariadb-server"
    max_replicas = 1
    ports        = ["mysql"]
  }

  provides "database" {
    url = "mysql://${database.user}:${database.password}@${self.host}:${port.mysql}/${database.name}"

    job "create" {
      image   = "mariadb-server"
      command = ["create", database.name]
      env     = { ROOT = secret.root.value, PASSWORD = database.password }
    }
  }
}
