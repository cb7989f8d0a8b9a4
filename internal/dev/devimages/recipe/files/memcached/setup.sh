rm -f /etc/memcached.conf
