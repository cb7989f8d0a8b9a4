password=$(printf %s "$EXPORTER_PASSWORD" | sed "s/\\\\/\\\\\\\\/g; s/'/''/g")
mariadb --defaults-file=/tmp/root.cnf --host="$MYSQL_HOST" --user=root <<SQL
CREATE USER IF NOT EXISTS 'exporter'@'%' IDENTIFIED BY '$password';
ALTER USER 'exporter'@'%' IDENTIFIED BY '$password' WITH MAX_USER_CONNECTIONS 8;
SQL
