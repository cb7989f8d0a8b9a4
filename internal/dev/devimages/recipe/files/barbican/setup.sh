ln -s /usr/bin/barbican-* /var/lib/kolla/venv/bin/
rm -rf /etc/barbican
install -d -m 0755 -o barbican -g barbican /etc/barbican /etc/barbican/vassals /var/lib/barbican
cd /usr/share/barbican-common
cp api_audit_map.conf barbican-api-paste.ini /etc/barbican/
