ln -s /usr/bin/cinder-* /var/lib/kolla/venv/bin/
cp /usr/share/cinder-common/api-paste.ini /etc/cinder/
find /etc/cinder -mindepth 1 -maxdepth 1 ! -name api-paste.ini ! -name resource_filters.json ! -name 'rootwrap.*' -exec rm -r {} +
sed -i 's|^exec_dirs *=.*|exec_dirs=/var/lib/kolla/venv/bin,/sbin,/usr/sbin,/bin,/usr/bin,/usr/local/bin,/usr/local/sbin|' /etc/cinder/rootwrap.conf
chmod -R u=rwX,go=rX /etc/cinder
chown -R root:root /etc/cinder
install -d -m 0755 -o cinder -g cinder /etc/cinder
install -d -m 2775 -o cinder -g kolla /etc/iscsi /var/lib/cinder
rm -rf /etc/policy.d /etc/sudoers.d/cinder-common
chmod 0440 /etc/sudoers.d/kolla-cinder
