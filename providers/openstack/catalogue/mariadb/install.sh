# What is moved last says that the rest is complete.
cd /var/lib/mysql
test -d mysql && exit 0
rm -rf .install
mariadb-install-db --no-defaults --datadir=/var/lib/mysql/.install --auth-root-socket-user=mysql --skip-test-db
for entry in $(ls .install | grep -vx mysql); do
  rm -rf "$entry"
  mv ".install/$entry" .
done
mv .install/mysql .
rm -rf .install
