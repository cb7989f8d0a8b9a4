# Sets the root password of a cluster, as soon as this member is in it. Nothing is written if
# another member has set it.
given=$(cat /run/secrets/root/value)
password=$(sed "s/\\\\/\\\\\\\\/g; s/'/''/g" /run/secrets/root/value)
until grep -q ' ready$' /run/mysqld/state 2> /dev/null &&
  { MYSQL_PWD=$given mariadb --no-defaults --host=127.0.0.1 --user=root --execute="SELECT 1" > /dev/null 2>&1 ||
    mariadb --defaults-file=/etc/mysql/my.cnf --user=mysql; } <<SQL; do
CREATE USER IF NOT EXISTS 'root'@'%' IDENTIFIED BY '$password';
ALTER USER 'root'@'%' IDENTIFIED BY '$password';
GRANT ALL PRIVILEGES ON *.* TO 'root'@'%' WITH GRANT OPTION;
SQL
  sleep 1
done
: > /run/mysqld/root-is-set
trap 'exit 0' TERM
while :; do
  sleep 3600 &
  wait
done
