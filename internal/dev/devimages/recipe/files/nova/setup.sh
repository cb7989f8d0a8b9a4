# Only these files, without QEMU, libvirt and node.js, which the packages depend on.
cd /tmp
apt-get --quiet --option=APT::Sandbox::User=root download nova-compute nova-consoleproxy novnc
for package in *.deb; do
	dpkg-deb -x "$package" unpacked
done
mv unpacked/usr/bin/nova-compute unpacked/usr/bin/nova-*proxy /usr/bin/
mv unpacked/etc/nova/rootwrap.d /etc/nova/
mv unpacked/usr/share/novnc /usr/share/
rm -r -- *.deb unpacked

ln -s /usr/bin/nova-* /var/lib/kolla/venv/bin/
cp /usr/share/nova-common/api-paste.ini /etc/nova/
find /etc/nova -mindepth 1 -maxdepth 1 ! -name api-paste.ini ! -name 'rootwrap.*' -exec rm -r {} +
sed -i 's|^exec_dirs *=.*|exec_dirs=/var/lib/kolla/venv/bin,/sbin,/usr/sbin,/bin,/usr/bin,/usr/local/bin,/usr/local/sbin|' /etc/nova/rootwrap.conf
chmod -R u=rwX,go=rX /etc/nova
chown -R root:root /etc/nova
install -d -m 0755 -o nova -g nova /etc/nova /var/lib/nova /var/lib/nova/instances
usermod --append --groups qemu nova
rm -rf /etc/policy.d /etc/sudoers.d/nova-common
chmod 0440 /etc/sudoers.d/kolla-nova
