"""Takes hypervisors out of Nova, Placement and Neutron whose nodes have left the role.

python3 retire.py CONFIG...

KOLLA_NODES are the nodes of the role, and SERVICE is the name of the service. A trait in
Placement says to which service a hypervisor belongs. Hypervisors without the trait of this
service are left alone. A service that is given a node of another one replaces the trait.
Servers are never deleted.
"""

import configparser
import os
import re
import sys
import time

import openstack

MARK = "CUSTOM_KOLLA_SERVICE_"
nodes = set(os.environ["KOLLA_NODES"].split())
trait = MARK + re.sub("[^A-Z0-9]", "_", os.environ["SERVICE"].upper())
# When Nova has to have noticed that nova-compute on such nodes has ended.
deadline = time.monotonic() + 240
AGENTS = 90  # seconds after which Neutron has noticed the end of its agents

config = configparser.RawConfigParser(strict=False)
config.read(sys.argv[1:])
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


def marked():
    found = placement("GET", "/resource_providers", params={"required": trait}).json()
    return {p["uuid"] for p in found["resource_providers"]}


def mark(provider):
    path = f"/resource_providers/{provider}/traits"
    for attempt in range(5):  # Nova may change it at the same time
        found = placement("GET", path).json()
        found["traits"] = [t for t in found["traits"] if not t.startswith(MARK)] + [trait]
        try:
            placement("PUT", path, json=found)
            return
        except openstack.exceptions.ConflictException:
            if attempt == 4:
                raise
            time.sleep(1)


def hypervisors():
    """The node of each, by its id. Later versions of the API ask every node for its uptime.

    Nova lists a hypervisor that two cells know again and again as the last page.
    """
    found, marker = {}, {}
    while True:
        answer = cloud.compute.get("/os-hypervisors/detail", params=marker, microversion="2.53")
        openstack.exceptions.raise_from_response(answer)
        page = answer.json()["hypervisors"]
        if all(h["id"] in found for h in page):
            return found
        found.update({h["id"]: h["service"]["host"] for h in page})
        marker = {"marker": page[-1]["id"]}


def compute_service(host):
    return next(cloud.compute.services(host=host, binary="nova-compute"), None)


def agents(host):
    """Neutron's agents on a node. Neutron asks them whether they live when they are listed."""
    return list(cloud.network.agents(host=host))


def retire(provider, host):
    """Why it cannot be taken out, or nothing."""
    while provider in marked() and (service := compute_service(host)) and service.state == "up":
        if time.monotonic() > deadline:
            return f"nova-compute on {host} still runs."
        time.sleep(5)
    if provider not in marked():
        return None  # another service has the node now
    servers = sorted(s.name for s in cloud.compute.servers(all_projects=True, host=host))
    if servers:
        return (
            f"{host} is no node of {os.environ['SERVICE']} any more, and has servers: {', '.join(servers)}. "
            "Give it back to the role and move them, or evacuate or delete them, and apply again."
        )
    # An agent goes on where the node has kept the role of that agent.
    until = time.monotonic() + AGENTS
    while any(a.is_alive for a in agents(host)) and time.monotonic() < until:
        time.sleep(5)
    if provider not in marked():
        return None
    service = compute_service(host)
    if service and service.state == "up":
        return f"nova-compute on {host} runs again."
    for agent in agents(host):
        if not agent.is_alive:
            cloud.network.delete_agent(agent)
    if service:
        cloud.compute.delete_service(service)  # last: the trait goes with it
    if provider in marked():
        return f"Placement keeps {host}, as something is allocated on it."
    print(f"{host} has been taken out.")
    return None


placement("PUT", f"/traits/{trait}")
before = marked()
problems = []
for provider, host in hypervisors().items():
    try:
        if host in nodes:
            if provider not in before:
                mark(provider)
        elif provider in before:
            problems.append(retire(provider, host))
    except openstack.exceptions.SDKException as e:
        problems.append(f"{host}: {e}")
sys.exit("\n".join(filter(None, problems)) or 0)
