# Run with "sh -eu" in the root directory of a layer when everything is in it.
rm -rf /var/cache/apt/*.bin /var/cache/debconf/*-old /var/cache/ldconfig/aux-cache \
	/var/lib/dpkg/*-old /var/lib/systemd/random-seed /var/lib/dbus/machine-id \
	/etc/passwd- /etc/group- /etc/shadow- /etc/gshadow- /etc/.pwd.lock \
	/etc/ssh/ssh_host_* /root/.cache /root/.wget-hsts
find /var/log /var/tmp -type f -delete
if test -s /etc/machine-id; then
	: >/etc/machine-id
fi
# The day on which a package's user was made.
if grep -qvE '^[^:]*:[^:]*:20000:' /etc/shadow; then
	sed -i -E 's/^([^:]*:[^:]*):[0-9]+:/\1:20000:/' /etc/shadow
fi
