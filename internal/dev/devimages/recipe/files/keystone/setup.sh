ln -s /usr/bin/keystone-* /var/lib/kolla/venv/bin/
install -d -m 0755 -o keystone -g keystone /etc/keystone /var/lib/keystone
