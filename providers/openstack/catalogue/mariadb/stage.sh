# Unpacks a backup from standard input beside the data of the server, and brings its files to one
# moment. $1 is its size in bytes. A server that runs does not notice.
cd /var/lib/mysql
if [ -e .restore/ready ] || [ -e .restore/emptied ]; then
  echo "a restore that was begun before waits for the next start of the server; start it, with kolla apply" >&2
  exit 1
fi
rm -rf .restore
free=$(df -Pk . | awk 'NR == 2 { print $4 }')
need=$(($1 / 1024 / 10 * 11 + 65536)) # with the redo log that is applied
if [ "$free" -lt "$need" ]; then
  echo "the volume has $((free / 1024)) MiB free, and the backup needs $((need / 1024)) MiB beside the present data" >&2
  exit 1
fi
mkdir .restore
mbstream --extract --directory=.restore
mariadb-backup --prepare --target-dir=/var/lib/mysql/.restore
test -d .restore/mysql
