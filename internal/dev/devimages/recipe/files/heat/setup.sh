ln -s /usr/bin/heat-* /var/lib/kolla/venv/bin/
find /etc/heat -mindepth 1 -maxdepth 1 ! -name api-paste.ini ! -name environment.d -exec rm -r {} +
chmod -R u=rwX,go=rX /etc/heat
chown -R root:root /etc/heat
install -d -m 0755 -o heat -g heat /etc/heat /var/lib/heat
