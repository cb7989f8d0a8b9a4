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

LIMIT = 240  # seconds for the nova-compute of such a node to end, and for Nova to notice
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


def retire(host):
    """Why it cannot be taken out, or nothing."""
    servers = sorted(s.name for s in cloud.compute.servers(all_projects=True, host=host))
    if servers:
        return (
            f"{host} is no node of {os.environ['SERVICE']} any more, and has servers: {', '.join(servers)}. "
            "Give it back to the role and move them, or evacuate or delete them, and apply again."
        )
    deadline = time.monotonic() + LIMIT
    while (service := next(cloud.compute.services(host=host, binary="nova-compute"), None)) and service.state == "up":
        if time.monotonic() > deadline:
            return f"nova-compute on {host} still runs."
        time.sleep(5)
    if service:
        cloud.compute.delete_service(service)
    for other in cloud.network.agents(host=host):
        if not other.is_alive:
            cloud.network.delete_agent(other)
    print(f"{host} has been taken out.")
    return None


placement("PUT", f"/traits/{trait}")
found = placement("GET", "/resource_providers", params={"required": trait}).json()
marked = {p["uuid"] for p in found["resource_providers"]}
problems = []
for hypervisor in cloud.compute.hypervisors(details=True):
    host = hypervisor.service_details["host"]
    if host in nodes:
        if hypervisor.id not in marked:
            mark(hypervisor.id)
    elif hypervisor.id in marked:
        problems.append(retire(host))
sys.exit("\n".join(filter(None, problems)) or 0)
