# Before a script that logs in as root: waits for the server, and writes /tmp/root.cnf.
umask 077
trap 'rm -f /tmp/root.cnf' EXIT
{ echo '[client]'; printf 'password="%s"\n' "$(sed 's/\\/\\\\/g; s/"/\\"/g' /run/secrets/root/value)"; } > /tmp/root.cnf
# Nodes learn of a server that has just become ready a moment later.
for try in $(seq 60); do
  mariadb-admin --defaults-file=/tmp/root.cnf --host="$MYSQL_HOST" --user=root --connect-timeout=5 --silent ping && break
  sleep 1
done
