# Writes a backup to standard output, as mbstream reads it. The server goes on. The user mysql logs in
# through the socket, without a password.
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mariadb-backup --defaults-file=/etc/mysql/my.cnf --socket=/run/mysqld/mysqld.sock --user=mysql --backup --stream=xbstream --target-dir="$scratch"
