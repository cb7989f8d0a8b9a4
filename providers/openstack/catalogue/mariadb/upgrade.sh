# With --force it does not believe what it noted for the member before.
mariadb-upgrade --defaults-file=/tmp/root.cnf --host="$MYSQL_HOST" --user=root --force
