rm -rf /etc/valkey /var/lib/valkey
install -d -m 0755 -o valkey -g valkey /etc/valkey /var/lib/valkey
