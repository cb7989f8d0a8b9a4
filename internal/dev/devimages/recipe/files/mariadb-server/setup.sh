# The package may make a database of its own. my.cnf stays a link to mariadb.cnf, through /etc/alternatives, as in
# Kolla's image, and so do the fragments of configuration that mariadb.cnf reads.
if [ -d /var/lib/mysql ]; then find /var/lib/mysql -mindepth 1 -delete; fi
rm -f /etc/mysql/debian-start /etc/mysql/debian.cnf
install -d -m 0755 -o mysql -g mysql /var/lib/mysql
test "$(readlink -e /etc/mysql/my.cnf)" = /etc/mysql/mariadb.cnf
