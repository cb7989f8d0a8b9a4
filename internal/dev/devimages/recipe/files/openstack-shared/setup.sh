ln -s /usr/bin/privsep-helper /var/lib/kolla/venv/bin/
# A name that has to be one machine's own, and what differs from build to build.
rm -f /etc/iscsi/initiatorname.iscsi
find /var/cache/fontconfig -type f -delete
