mariadb-upgrade --defaults-file=/tmp/root.cnf --host="$MYSQL_HOST" --user=root
