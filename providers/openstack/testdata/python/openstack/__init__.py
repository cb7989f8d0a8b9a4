"""A stand-in for openstacksdk: a cloud in the JSON file CLOUD. What is written is added to WRITES."""

import json
import os
import time
from types import SimpleNamespace

from . import exceptions

with open(os.environ["CLOUD"], encoding="utf-8") as file:
    CLOUD = json.load(file)
clock = [0]
time.monotonic = lambda: clock[0]
time.sleep = lambda seconds: clock.__setitem__(0, clock[0] + seconds)


def write(text):
    with open(os.environ["WRITES"], "a", encoding="utf-8") as file:
        file.write(text + "\n")


class Answer:
    def __init__(self, body=None, status=200):
        self.body, self.status = body, status

    def json(self):
        return self.body


class Placement:
    def request(self, path, method, microversion, params=None, json=None):
        if tuple(map(int, microversion.split("."))) < (1, 18):
            return Answer(status=400)
        if path.startswith("/traits/"):
            CLOUD.setdefault("traits", []).append(path.split("/")[2])
            return Answer()
        if path == "/resource_providers":
            wanted = params["required"]
            if wanted not in CLOUD.get("traits", []):
                return Answer(status=400)
            return Answer({"resource_providers": [
                {"uuid": h["id"]} for h in CLOUD["hypervisors"] if wanted in traits(h)
            ]})
        hypervisor = next(h for h in CLOUD["hypervisors"] if path == f"/resource_providers/{h['id']}/traits")
        if method == "GET":
            return Answer({"traits": list(traits(hypervisor)), "resource_provider_generation": hypervisor.get("changes", 0)})
        if hypervisor.get("conflicts", 0) > 0:
            hypervisor["conflicts"] -= 1
            hypervisor["changes"] = hypervisor.get("changes", 0) + 1
        if json["resource_provider_generation"] != hypervisor.get("changes", 0):
            return Answer(status=409)
        hypervisor["traits"] = json["traits"]
        write(f"{hypervisor['host']} has {' '.join(json['traits'])}")
        return Answer()


def traits(hypervisor):
    """Those that it has by now: another service takes it over at the time taken_over."""
    if clock[0] >= hypervisor.get("taken_over", float("inf")):
        return []
    return hypervisor.get("traits", [])


class Compute:
    def get(self, path, params, microversion):
        """One hypervisor a page."""
        if path != "/os-hypervisors/detail" or microversion != "2.53":
            return Answer(status=400)
        all = CLOUD["hypervisors"]
        first = [h["id"] for h in all].index(params["marker"]) + 1 if params else 0
        return Answer({"hypervisors": [{"id": h["id"], "service": {"host": h["host"]}} for h in all[first:first + 1]]})

    def servers(self, all_projects, host):
        for h in CLOUD["hypervisors"]:
            if h["host"] == host and all_projects:
                yield from (SimpleNamespace(name=name) for name in h.get("servers", []))

    def services(self, host, binary):
        for h in CLOUD["hypervisors"]:
            if h["host"] == host and binary == "nova-compute":
                up = clock[0] < h.get("up_until", 0) or clock[0] >= h.get("up_again", float("inf"))
                yield SimpleNamespace(id=h["id"], state="up" if up else "down")

    def delete_service(self, service):
        hypervisor = next(h for h in CLOUD["hypervisors"] if h["id"] == service.id)
        if hypervisor.get("migrations"):
            raise exceptions.ConflictException("409: migrations in progress")
        if not hypervisor.get("allocated"):
            CLOUD["hypervisors"].remove(hypervisor)
        write(f"service {service.id} deleted")


class Network:
    def agents(self, host):
        for a in CLOUD.get("agents", []):
            if a["host"] == host:
                yield SimpleNamespace(id=a["id"], is_alive=clock[0] < a.get("alive_until", 0))

    def delete_agent(self, agent):
        write(f"agent {agent.id} deleted")


def connect(auth, region_name, interface, load_yaml_config, load_envvars):
    if auth != CLOUD["auth"] or region_name != "RegionOne" or load_yaml_config or load_envvars:
        raise exceptions.SDKException(f"connected with {sorted(auth)} and {region_name}")
    return SimpleNamespace(compute=Compute(), placement=Placement(), network=Network())
