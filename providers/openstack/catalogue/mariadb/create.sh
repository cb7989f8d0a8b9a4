umask 077
trap 'rm -f /tmp/root.cnf' EXIT
{ echo '[client]'; printf 'password="%s"\n' "$(sed 's/\\/\\\\/g; s/"/\\"/g' /run/secrets/root/value)"; } > /tmp/root.cnf
password=$(printf %s "$DB_PASSWORD" | sed "s/\\\\/\\\\\\\\/g; s/'/''/g")
# Nodes learn of a server that has just become ready a moment later.
for try in $(seq 60); do
  mariadb-admin --defaults-file=/tmp/root.cnf --host="$MYSQL_HOST" --user=root --connect-timeout=5 --silent ping && break
  sleep 1
done
mariadb --defaults-file=/tmp/root.cnf --host="$MYSQL_HOST" --user=root <<SQL
CREATE DATABASE IF NOT EXISTS $DB_NAME CHARACTER SET utf8mb3;
CREATE USER IF NOT EXISTS '$DB_USER'@'%' IDENTIFIED BY '$password';
ALTER USER '$DB_USER'@'%' IDENTIFIED BY '$password';
GRANT ALL PRIVILEGES ON $DB_NAME.* TO '$DB_USER'@'%';
SQL
