"""Runs keystone-manage bootstrap, and empties the caches.

After a restore, the database may be that of a cloud whose users and projects have other IDs. Keystone would
refuse logins by the IDs in its caches, for ten minutes.
"""

import sys

import memcache  # of python-memcached, which the backend oslo_cache.memcache_pool needs
from keystone.cmd import manage
from keystone.conf import CONF

with open("/run/secrets/admin/value") as f:
    password = f.read()
sys.argv = ["keystone-manage", "bootstrap", "--bootstrap-password=" + password]
manage.main()
memcache.Client(CONF.cache.memcache_servers).flush_all()
