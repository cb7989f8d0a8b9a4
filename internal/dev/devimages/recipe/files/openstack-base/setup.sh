# Kolla keeps OpenStack's code in a virtual environment that is first in PATH. Here it
# sees the code of Debian's packages, and its programs are links to Debian's.
python3 -m venv --system-site-packages --without-pip /var/lib/kolla/venv
ln -s "python$(python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')" /var/lib/kolla/venv/lib/python3
cp /usr/bin/uwsgi-core /var/lib/kolla/venv/bin/uwsgi # no link: Python looks for its environment beside the program
ln -s /usr/bin/openstack /usr/bin/oslo* /var/lib/kolla/venv/bin/
chmod 0440 /etc/sudoers.d/kolla-path
