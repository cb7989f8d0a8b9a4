password=$(printf %s "$DB_PASSWORD" | sed "s/\\\\/\\\\\\\\/g; s/'/''/g")
mariadb --defaults-file=/tmp/root.cnf --host="$MYSQL_HOST" --user=root <<SQL
CREATE DATABASE IF NOT EXISTS $DB_NAME CHARACTER SET utf8mb3;
ALTER DATABASE $DB_NAME CHARACTER SET utf8mb3;
CREATE USER IF NOT EXISTS '$DB_USER'@'%' IDENTIFIED BY '$password';
ALTER USER '$DB_USER'@'%' IDENTIFIED BY '$password' ACCOUNT UNLOCK;
GRANT ALL PRIVILEGES ON $DB_NAME.* TO '$DB_USER'@'%';
SQL
