service "mariadb" {}
