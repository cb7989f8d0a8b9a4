ln -s /usr/bin/glance-* /var/lib/kolla/venv/bin/
rm -rf /etc/glance
install -d -m 0755 -o glance -g glance /etc/glance /var/lib/glance
cd /usr/share/glance-common
cp -r glance-api-paste.ini metadefs ovf-metadata.json schema-image.json /etc/glance/
