cd /var/lib/mysql
if [ -d .sst ] || grep -qs '^uuid: *00000000-0000-0000-0000-000000000000$' grastate.dat; then
  echo "The data are a part of a copy from another member of a cluster. Another member, or a backup, has complete data." >&2
  exit 1
fi
# Data of a cluster go on without it. Their position in it is kept, for a cluster that starts with them.
if [ -e grastate.dat ]; then
  sed -n 's/^uuid: */uuid /p; s/^seqno: */seqno /p' grastate.dat | awk '
    { is[$1] = $2 }
    END { if (is["seqno"] ~ /^[0-9]+$/) print is["uuid"] ":" is["seqno"] }' > origin.new
  sync origin.new
  if [ -s origin.new ]; then
    mv origin.new origin
  fi
  rm -f origin.new grastate.dat
  sync .
fi
password=$(sed "s/\\\\/\\\\\\\\/g; s/'/''/g" /run/secrets/root/value)
mariadbd --defaults-file=/etc/mysql/my.cnf --bootstrap <<SQL
FLUSH PRIVILEGES;
CREATE USER IF NOT EXISTS 'root'@'%' IDENTIFIED BY '$password';
ALTER USER 'root'@'%' IDENTIFIED BY '$password';
GRANT ALL PRIVILEGES ON *.* TO 'root'@'%' WITH GRANT OPTION;
SQL
