import sys
from keystone.cmd import manage

with open("/run/secrets/admin/value") as f:
    password = f.read()
sys.argv = ["keystone-manage", "bootstrap", "--bootstrap-password=" + password]
manage.main()
