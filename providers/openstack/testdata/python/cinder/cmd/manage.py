"""A stand-in for cinder-manage: the services, volumes and backups of the JSON file CINDER."""

import json
import os
import time
from types import SimpleNamespace

with open(os.environ["CINDER"], encoding="utf-8") as file:
    CINDER = json.load(file)
clock = [0]
time.monotonic = lambda: clock[0]
time.sleep = lambda seconds: clock.__setitem__(0, clock[0] + seconds)
read = []


def CONF(args, project):
    assert (args, project) == ([], "cinder")
    read.append(project)


class Service:
    def __init__(self, service):
        self.host, self.service = service["host"], service

    @property
    def is_up(self):
        return clock[0] < self.service.get("up_until", 0)

    def destroy(self):
        CINDER["services"].remove(self.service)
        print(f"{self.host} deleted", flush=True)


def listed(kind):
    """A list of what has this host, or a pool of it."""
    return SimpleNamespace(get_all_by_host=lambda admin, host: [
        SimpleNamespace(id=one["id"]) for one in CINDER[kind] or [] if one["host"].split("#")[0] == host
    ])


def services(admin):
    assert admin == "admin" and read and registered
    return [Service(s) for s in CINDER["services"]]


registered = []
context = SimpleNamespace(get_admin_context=lambda: "admin")
objects = SimpleNamespace(
    register_all=lambda: registered.append(True),
    ServiceList=SimpleNamespace(get_all=services),
    VolumeList=listed("volumes"),
    BackupList=listed("backups"),
)
