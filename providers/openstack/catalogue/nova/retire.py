"""Takes hypervisors out of Nova, Placement and Neutron whose nodes have left the role.

KOLLA_NODES are the nodes of the role, and SERVICE is the name of the service. A trait in
Placement remembers whose a hypervisor is: another service's, or one that somebody runs
elsewhere, is left alone. Servers are never taken away.
"""

import configparser
import os
import re
import sys
import time

import openstack

LIMIT = int(os.environ.get("LIMIT", "240"))  # seconds until what ran on such a node counts as dead
PAUSE = int(os.environ.get("PAUSE", "5"))
nodes = set(os.environ["KOLLA_NODES"].split())
trait = "CUSTOM_KOLLA_" + re.sub("[^A-Z0-9]", "_", os.environ["SERVICE"].upper())

config = configparser.RawConfigParser(strict=False)
config.read(["/etc/nova/nova.conf", "/etc/nova/nova.conf.d/secrets.conf"])
user = dict(config["service_user"])
auth = {
    key: user[key]
    for key in ("auth_url", "username", "password", "project_name", "user_domain_name", "project_domain_name")
}
cloud = openstack.connect(
    auth=auth, region_name=user.get("region_name"), interface="internal", load_yaml_config=False, load_envvars=False,
)


def placement(method, path, **more):
    """Asks Placement, with the first version that looks for providers by traits."""
    answer = cloud.placement.request(path, method, microversion="1.18", **more)
    openstack.exceptions.raise_from_response(answer)
    return answer


def mark(provider):
    path = f"/resource_providers/{provider}/traits"
    found = placement("GET", path).json()
    found["traits"].append(trait)
    try:
        placement("PUT", path, json=found)
    except openstack.exceptions.ConflictException:
        print(f"{provider} has no mark yet, as Nova has changed it at the same time.")


def hypervisors():
    """The node of each, by its number. Later versions ask all nodes, and wait for those that end."""
    found, marker = {}, {}
    while True:
        answer = cloud.compute.get("/os-hypervisors/detail", params=marker, microversion="2.53")
        openstack.exceptions.raise_from_response(answer)
        page = answer.json()["hypervisors"]
        if not page:
            return found
        found.update({h["id"]: h["service"]["host"] for h in page})
        marker = {"marker": page[-1]["id"]}


def agents(host):
    """What runs on a node, as Nova and Neutron know it. Asked for, they look whether it lives."""
    service = next(cloud.compute.services(host=host, binary="nova-compute"), None)
    return service, list(cloud.network.agents(host=host))


def retire(host):
    """Why it cannot be taken out, or nothing."""
    servers = sorted(s.name for s in cloud.compute.servers(all_projects=True, host=host))
    if servers:
        return (
            f"{host} is no node of {os.environ['SERVICE']} any more, and has servers: {', '.join(servers)}. "
            "Give it back to the role and move them, or evacuate or delete them, and apply again."
        )
    deadline = time.monotonic() + LIMIT
    while True:
        service, others = agents(host)
        lives = service and service.state == "up"
        if not lives and not any(o.is_alive for o in others) or time.monotonic() > deadline:
            break
        time.sleep(PAUSE)
    if lives:
        return f"nova-compute on {host} still runs."
    for other in others:
        if not other.is_alive:
            cloud.network.delete_agent(other)
    if service:
        cloud.compute.delete_service(service)  # last: the mark goes with it
    print(f"{host} has been taken out.")
    return None


placement("PUT", f"/traits/{trait}")
answer = placement("GET", "/resource_providers", params={"required": trait})
marked = {p["uuid"] for p in answer.json()["resource_providers"]}
problems = []
for provider, host in hypervisors().items():
    if host in nodes:
        if provider not in marked:
            mark(provider)
    elif provider in marked:
        problems.append(retire(host))
sys.exit("\n".join(filter(None, problems)) or 0)
