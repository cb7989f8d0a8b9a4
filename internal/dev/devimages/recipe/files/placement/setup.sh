ln -s /usr/bin/placement-* /var/lib/kolla/venv/bin/
rm -rf /etc/placement
install -d -m 0755 -o placement -g placement /etc/placement /var/lib/placement
