dashboard=/usr/lib/python3/dist-packages/openstack_dashboard
venv=/var/lib/kolla/venv
manage() {
	$venv/bin/python3 $venv/bin/manage.py "$@"
}
ln -s /usr/share/openstack-dashboard/manage.py $venv/bin/manage.py
ln -s /usr/share/openstack-dashboard/wsgi.py $dashboard/wsgi.py
ln -s $dashboard $venv/lib/python3/site-packages/openstack_dashboard

# Kolla's paths of the settings and policies. Without settings, Horizon would make itself
# a secret key; with some, it need not be able to write anywhere.
cd /etc/openstack-dashboard
rm -rf enabled local_settings.d policy/octavia_policy.json
mv policy/* .
rmdir policy
mkdir local_settings.d
ln -sfn /etc/openstack-dashboard $dashboard/conf
sed -i '/^SECRET_KEY = /,/^ *os.path.join/d' local_settings.py
install -d -m 0755 -o horizon -g horizon /var/lib/horizon

# What Kolla's images do at every start: collect the static files, and compress those that
# pages ask for. They ask for others with other plugins. A start takes any of these sets.
rm -rf /var/lib/openstack-dashboard /usr/share/openstack-dashboard/static
cat >local_settings.d/build.py <<-'PYTHON'
	SECRET_KEY = 'none'
	COMPRESS_OFFLINE = True
	# Without a cache that answers, blocks of the pages are left out.
	CACHES = {'default': {'BACKEND': 'django.core.cache.backends.locmem.LocMemCache'}}
PYTHON
kolla_horizon_plugins designate heat octavia
manage collectstatic --noinput --clear
# uWSGI finds the module beside Debian's packages, and its static files there.
ln -s $venv/lib/python3/site-packages/static /usr/lib/python3/dist-packages/static
manifest=$venv/lib/python3/site-packages/static/dashboard/manifest.json
set --
for plugins in '' designate heat octavia 'designate heat' 'designate octavia' 'heat octavia' 'designate heat octavia'; do
	kolla_horizon_plugins $plugins
	manage compress --force
	set -- "$@" "/tmp/manifest$#"
	mv $manifest "/tmp/manifest$(($# - 1))"
done
python3 - "$@" >$manifest <<-'PYTHON'
	import json
	import sys
	merged = {}
	for name in sys.argv[1:]:
	    with open(name) as part:
	        merged.update(json.load(part))
	json.dump(merged, sys.stdout, sort_keys=True)
PYTHON
kolla_horizon_plugins
kolla_horizon_static >/var/lib/kolla/horizon-static
rm local_settings.d/build.py # with its secret key, in whose absence Horizon makes one
