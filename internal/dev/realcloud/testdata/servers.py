"""What a user does with servers and other services, as the administrator:
python3 servers.py STEP ARGUMENTS.

Each step prints what it found as JSON, in one line.
"""

import base64
import json
import sys
import time

import openstack

cloud = openstack.connect()
LIMIT = 900  # seconds for anything


def wait(what, check, limit=LIMIT):
    """Asks until the check finds something. On a full machine a service may fail once."""
    began = time.monotonic()
    last = ""
    while time.monotonic() < began + limit:
        try:
            found = check()
        except openstack.exceptions.HttpException as failure:
            if not (failure.status_code or 0) >= 500:
                raise
            found, last = None, f": {failure}"
        if found:
            return found, round(time.monotonic() - began, 1)
        time.sleep(2)
    sys.exit(f"no {what} after {limit} s{last}")


def prepare(image, external, gateway, pool):
    """Everything that servers need, once."""
    cloud.create_image(
        "guest", filename=image, disk_format="qcow2", container_format="bare", wait=True,
        hw_disk_bus="virtio", hw_vif_model="virtio",
    )
    cloud.compute.create_flavor(name="small", ram=128, vcpus=1, disk=1)
    network = cloud.network
    outer = network.create_network(
        name="outer", is_router_external=True, provider_network_type="flat", provider_physical_network="physnet1",
    )
    start, end = pool.split("-")
    network.create_subnet(
        network_id=outer.id, ip_version=4, cidr=external, gateway_ip=gateway, is_dhcp_enabled=False,
        allocation_pools=[{"start": start, "end": end}],
    )
    inner = network.create_network(name="inner")
    subnet = network.create_subnet(network_id=inner.id, ip_version=4, cidr="10.9.0.0/24")
    router = network.create_router(name="router", external_gateway_info={"network_id": outer.id})
    network.add_interface_to_router(router, subnet_id=subnet.id)
    group = network.create_security_group(name="open")
    network.create_security_group_rule(security_group_id=group.id, direction="ingress", protocol="icmp")
    network.create_security_group_rule(
        security_group_id=group.id, direction="ingress", protocol="tcp", port_range_min=80, port_range_max=80,
    )
    return {}


def boot(name, host, user_data, group=None):
    """A server on a node, with a floating IP. With a group, it is in a new group of servers that
    run apart."""
    more = {}
    if group:
        made = cloud.create_server_group(group, policies=["anti-affinity"])
        more["scheduler_hints"] = {"group": made.id}
    server = cloud.compute.create_server(
        name=name, image_id=cloud.image.find_image("guest").id, flavor_id=cloud.compute.find_flavor("small").id,
        networks=[{"uuid": cloud.network.find_network("inner").id}], security_groups=[{"name": "open"}],
        availability_zone=f"nova:{host}" if host else "nova", user_data=base64.b64encode(user_data.encode()).decode(),
        **more,
    )

    def active():
        found = cloud.compute.get_server(server.id)
        if found.status == "ERROR":
            sys.exit(f"{name}: {found.fault}")
        return found.status == "ACTIVE" and found

    found, took = wait(f"server {name}", active)
    port = next(cloud.network.ports(device_id=server.id))
    floating = cloud.network.create_ip(floating_network_id=cloud.network.find_network("outer").id, port_id=port.id)
    return {
        "id": server.id, "host": found.hypervisor_hostname, "fixed": port.fixed_ips[0]["ip_address"],
        "floating": floating.floating_ip_address, "active": took,
    }


def console(name, text):
    """The console's log, once it has the text."""
    server = cloud.compute.find_server(name)

    output = ""

    def log():
        nonlocal output
        output = cloud.compute.get_server_console_output(server)["output"]
        return text in output

    try:
        _, took = wait(f"{text!r} on the console of {name}", log)
    except SystemExit as lacking:
        sys.exit(f"{lacking}:\n{output}")
    return {"output": output, "took": took}


def status(name):
    found = cloud.compute.get_server(cloud.compute.find_server(name).id)
    return {"status": found.status, "host": found.hypervisor_hostname, "fault": str(found.fault)}


def act(name, action):
    """Stops, starts or reboots a server, and waits for it."""
    server = cloud.compute.find_server(name)
    if action == "reboot":
        cloud.compute.reboot_server(server, "SOFT")
    else:
        getattr(cloud.compute, action + "_server")(server)
    want = "SHUTOFF" if action == "stop" else "ACTIVE"
    _, took = wait(f"server {name} {want}", lambda: cloud.compute.get_server(server.id).status == want)
    return {"took": took}


def move_volume(first, second):
    """A new volume of 1 GB in one server, and then in another. The guests write and read it."""
    volume = cloud.block_storage.create_volume(name="moved", size=1, volume_type="rbd")

    def reach(state):
        wait(f"volume {state}", lambda: cloud.block_storage.get_volume(volume.id).status == state)

    output = ""
    for name, text in ((first, "guest: wrote"), (second, "guest: read")):
        reach("available")
        server = cloud.compute.find_server(name)
        cloud.compute.create_volume_attachment(server, volume_id=volume.id)
        reach("in-use")
        output = console(name, text)["output"]
        cloud.compute.delete_volume_attachment(server, volume.id)
    reach("available")
    return {"read": output}


def hypervisors():
    return {
        "up": sorted(h.name for h in cloud.compute.hypervisors(details=True) if h.state == "up"),
        "agents": sorted(f"{a.binary} {a.host}" for a in cloud.network.agents()),
        "providers": sorted(p.name for p in cloud.placement.resource_providers()),
        "services": sorted(f"{s.binary} {s.host} {s.state} {s.status}" for s in cloud.compute.services()),
    }


def vnc(name):
    """The address of the page with a server's screen."""
    server = cloud.compute.find_server(name)
    return cloud.compute.create_server_remote_console(server, protocol="vnc", type="novnc").to_dict()["url"]


def migrate(name, host):
    """Moves a server to a node while it runs."""
    server = cloud.compute.find_server(name)
    cloud.compute.live_migrate_server(server, host=host, block_migration="auto")

    def moved():
        found = cloud.compute.get_server(server.id)
        return found.hypervisor_hostname == host and found.status == "ACTIVE" and not found.task_state

    _, took = wait(f"{name} on {host}", moved)
    return {"took": took}


def move_off(name, host):
    """Moves a server to a node while it is off, and gives it a larger flavor. Nova copies its disk."""
    server = cloud.compute.find_server(name)

    def confirm(what):
        def done():
            found = cloud.compute.get_server(server.id)
            if found.status == "ERROR" or found.status == "ACTIVE" and not found.task_state:
                sys.exit(f"{what} of {name} failed: {found.fault}")  # Nova has put it back
            return found.status == "VERIFY_RESIZE"

        _, took = wait(f"{what} of {name}", done)
        cloud.compute.confirm_server_resize(server)
        wait(f"{name} ACTIVE", lambda: cloud.compute.get_server(server.id).status == "ACTIVE")
        return took

    def begin(request):
        request()
        wait(f"{name} in motion", lambda: cloud.compute.get_server(server.id).task_state)

    begin(lambda: cloud.compute.migrate_server(server, host=host))
    moved = confirm("migration")
    found = cloud.compute.get_server(server.id).hypervisor_hostname
    larger = cloud.compute.create_flavor(name="larger", ram=160, vcpus=1, disk=1)
    begin(lambda: cloud.compute.resize_server(server, larger.id))
    return {"host": found, "took": moved, "resized": confirm("resize")}


def answers(*backends):
    """Uses every service once, until each answers and all of Cinder is up, with these backends. Prints the
    seconds."""

    def complete(fresh):
        services = list(fresh.block_storage.services())
        states = " ".join(f"{s.binary} {s.state}" for s in services)
        pools = " ".join(pool.name for pool in fresh.block_storage.backend_pools())
        if "down" in states or "cinder-volume up" not in states or "cinder-backup up" not in states:
            raise RuntimeError(f"not all of Cinder is up: {states}")
        if any(f"@{name}#" not in pools for name in backends):  # the scheduler knows none in its first minute
            raise RuntimeError(f"the scheduler does not know all backends: {pools}")
        return services

    error = None

    def answer(use):
        nonlocal error
        try:
            list(use(openstack.connect()))  # a connection remembers a failed discovery
            return True
        except Exception as e:  # the SDK lets errors of several libraries pass
            error = e
            return False

    took = {}
    for name, use in {
        "Keystone": lambda fresh: fresh.identity.projects(),
        "Glance": lambda fresh: fresh.image.images(),
        "Placement": lambda fresh: fresh.placement.resource_providers(),
        "Nova": lambda fresh: fresh.compute.servers(),
        "Neutron": lambda fresh: fresh.network.networks(),
        "Barbican": lambda fresh: fresh.key_manager.secrets(),
        "Heat": lambda fresh: fresh.orchestration.stacks(),
        "Cinder": lambda fresh: fresh.block_storage.volumes(),
        "Cinder's backends": complete,
    }.items():
        try:
            _, took[name] = wait("answer", lambda: answer(use))
        except SystemExit as lacking:
            sys.exit(f"{name}: {lacking}: {error}")
    return took


STEPS = (prepare, boot, console, status, act, move_volume, hypervisors, vnc, migrate, move_off, answers)
step, *arguments = sys.argv[1:]
print(json.dumps({f.__name__: f for f in STEPS}[step](*arguments)))
