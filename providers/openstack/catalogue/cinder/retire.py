"""Takes services out of Cinder that the cloud no longer declares: backends, and that for backups.

WANTED are the declared services, by the names that Cinder has for them, and PODS are the names of the
pods that kolla gives them. Left alone are services of other hosts, services that still run, as
enabled_backends in an override may name more of them, and services with volumes or backups.
"""

import os
import sys
import time

from cinder.cmd import manage

pods, wanted = os.environ["PODS"].split(), os.environ["WANTED"].split()
# When Cinder has to have noticed that a service has ended.
deadline = time.monotonic() + 120

objects, admin = manage.objects, manage.context.get_admin_context()
objects.register_all()
manage.CONF([], project="cinder")


def unwanted():
    return [s for s in objects.ServiceList.get_all(admin) if s.host.split("@")[0] in pods and s.host not in wanted]


def kept(host):
    """What the service has, as few words."""
    for what, kind in (("volumes", objects.VolumeList), ("backups", objects.BackupList)):
        if found := sorted(one.id for one in kind.get_all_by_host(admin, host)):
            more = f" and {len(found) - 5} more" if len(found) > 5 else ""
            return f"{what}: {', '.join(found[:5])}{more}"
    return None


while any(s.is_up for s in unwanted()) and time.monotonic() < deadline:
    time.sleep(5)
problems = []
for service in unwanted():
    if service.is_up:
        print(f"{service.host} is not declared, and still runs.", flush=True)
    elif has := kept(service.host):
        problems.append(
            f"{service.host} is not declared any more, and has {has}. Declare it again, delete them or move them to another "
            'backend, and apply again. If they are lost, `job "retire" { enabled = false }` in the service leaves all as it is.'
        )
    else:
        service.destroy()
        print(f"{service.host} has been taken out.", flush=True)
sys.exit("\n".join(problems) or 0)
