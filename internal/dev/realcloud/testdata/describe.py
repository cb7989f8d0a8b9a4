"""Prepares a cloud for Tempest, as the administrator, and prints what Tempest must know of it as JSON:
python3 describe.py

servers.py has made the image, the small flavor and the networks. Another run finds what this one makes.
"""

import json
import sys
import time

import openstack

cloud = openstack.connect()
image, compute, network, storage = cloud.image, cloud.compute, cloud.network, cloud.block_storage


def other_image():
    """A copy of the image under another name: Tempest tells servers apart by their images."""
    made = image.find_image("guest-2")
    if not made:
        kept = image.find_image("guest", ignore_missing=False)
        made = cloud.create_image(
            "guest-2", filename="guest.qcow2", disk_format=kept.disk_format, container_format=kept.container_format,
            wait=True, hw_disk_bus="virtio", hw_vif_model="virtio",
        )
    return made


def public(made):
    """The ID of an image, which all projects may use from now on: each test has a project of its own."""
    return image.update_image(made, visibility="public").id


def larger_flavor():
    return compute.find_flavor("of-tempest") or compute.create_flavor(name="of-tempest", ram=160, vcpus=1, disk=1)


def multiattach():
    """A type of volumes that several servers may use at once."""
    name = "multiattach"
    if not storage.find_type(name):
        storage.create_type(name=name, extra_specs={"multiattach": "<is> True"})
    return name


def complete():
    """Cinder's services, once all of them are up and the scheduler knows a backend."""
    began = time.monotonic()
    while time.monotonic() < began + 600:
        found = list(storage.services())
        if all(service.state == "up" for service in found) and list(storage.backend_pools()):
            return found
        time.sleep(5)
    sys.exit(f"not all of Cinder is up: {[(s.binary, s.host, s.state) for s in found]}")


services = complete()
subnet = next(network.subnets(network_id=network.find_network("inner", ignore_missing=False).id))
print(json.dumps({
    "region": next(cloud.identity.regions()).id,
    "services": sorted(service.type for service in cloud.identity.services()),
    "image": public(image.find_image("guest", ignore_missing=False)),
    "otherImage": public(other_image()),
    "flavor": compute.find_flavor("small", ignore_missing=False).id,
    "largerFlavor": larger_flavor().id,
    "externalNetwork": network.find_network("outer", ignore_missing=False).id,
    "network": subnet.network_id,
    "subnet": subnet.id,
    "hypervisors": sum(h.state == "up" for h in compute.hypervisors(details=True)),
    "extensions": sorted(extension.alias for extension in network.extensions()),
    "backends": sorted(service.host.partition("@")[2] for service in services if service.binary == "cinder-volume"),
    "backups": any(service.binary == "cinder-backup" for service in services),
    "multiattachType": multiattach(),
    "importMethods": image.get("/info/import").json()["import-methods"]["value"],
}))
