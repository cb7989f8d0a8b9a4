ln -s /usr/bin/neutron-* /var/lib/kolla/venv/bin/
cp /usr/share/neutron-common/api-paste.ini /etc/neutron/
find /etc/neutron -mindepth 1 -maxdepth 1 ! -name api-paste.ini ! -name 'rootwrap.*' -exec rm -r {} +
sed -i 's|^exec_dirs *=.*|exec_dirs=/var/lib/kolla/venv/bin,/sbin,/usr/sbin,/bin,/usr/bin,/usr/local/bin,/usr/local/sbin|' /etc/neutron/rootwrap.conf
chmod -R u=rwX,go=rX /etc/neutron
chown -R root:root /etc/neutron
install -d -m 0755 -o neutron -g neutron /etc/neutron /etc/neutron/plugins /etc/neutron/plugins/ml2 /var/lib/neutron
rm -rf /etc/policy.d /etc/sudoers.d/neutron_sudoers
chmod 0440 /etc/sudoers.d/kolla-neutron
