for program in keystone-manage keystone-status keystone-wsgi-public; do
	ln -s "/usr/bin/$program" "/var/lib/kolla/venv/bin/$program"
done
install -d -m 0755 -o keystone -g keystone /etc/keystone /var/lib/keystone
