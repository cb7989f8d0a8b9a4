# The package makes a database of its own, and reads fragments of configuration that
# Kolla's image does not have.
find /var/lib/mysql -mindepth 1 -delete
rm -rf /etc/mysql/conf.d /etc/mysql/mariadb.conf.d /etc/mysql/my.cnf.fallback /etc/mysql/debian-start /etc/mysql/debian.cnf
rm -f /etc/mysql/my.cnf /etc/mysql/mariadb.cnf /etc/alternatives/my.cnf
install -d -m 0755 -o mysql -g mysql /var/lib/mysql
install -m 0644 -o mysql -g mysql /dev/null /etc/mysql/my.cnf
