"""What a reader, a member and a manager of a project may do in every API, and a manager of a domain:
python3 roles.py

Makes the users as the administrator, sends the requests, and prints the wrong answers. What the
requests make stays.
"""

import os

import openstack
from keystoneauth1 import session
from keystoneauth1.identity import v3

NAME, PASSWORD = "of-roles", "of-roles"
NOTHING = {"heat_template_version": "2018-08-31"}

# The type of the service, the request, and the status of the answer to each of the three.
REQUESTS = (
    ("identity", "GET", "/auth/projects", None, (200, 200, 200)),
    ("identity", "POST", "/projects", {"project": {"name": NAME + "-2", "domain_id": "default"}}, (403, 403, 403)),
    ("placement", "GET", "/usages?project_id=PROJECT", None, (200, 200, 200)),
    ("placement", "POST", "/resource_providers", {"name": NAME}, (403, 403, 403)),
    ("image", "GET", "/v2/images", None, (200, 200, 200)),
    ("image", "POST", "/v2/images", {"name": NAME}, (403, 201, 201)),
    ("key-manager", "GET", "/v1/secrets", None, (403, 200, 200)),
    ("key-manager", "POST", "/v1/secrets", {"name": NAME}, (403, 201, 201)),
    ("orchestration", "GET", "/stacks", None, (200, 200, 200)),
    ("orchestration", "POST", "/stacks", {"stack_name": NAME, "template": NOTHING}, (403, 201, 201)),
    ("network", "GET", "/v2.0/networks", None, (200, 200, 200)),
    ("network", "POST", "/v2.0/networks", {"network": {"name": NAME}}, (403, 201, 201)),
    ("compute", "GET", "/servers", None, (200, 200, 200)),
    ("compute", "POST", "/os-server-groups", {"server_group": {"name": NAME, "policies": ["affinity"]}}, (403, 200, 200)),
    ("block-storage", "GET", "/PROJECT/volumes", None, (200, 200, 200)),
    ("block-storage", "POST", "/PROJECT/volumes", {"volume": {"size": 1, "name": NAME, "volume_type": "rbd"}}, (403, 202, 202)),
    ("block-storage", "GET", "/PROJECT/os-services", None, (403, 403, 403)),
)


def log_in(user, **scope):
    auth = v3.Password(
        os.environ["OS_AUTH_URL"], username=user, password=PASSWORD, user_domain_name="Default", **scope,
    )
    return session.Session(auth, verify=os.environ.get("OS_CACERT", True))


def ask(user, login, project, service, method, path, body, want):
    if body and "stack_name" in body:
        body = {**body, "stack_name": f"{NAME}-{user}"}
    answer = login.request(
        path.replace("PROJECT", project), method, json=body, raise_exc=False,
        endpoint_filter={"service_type": service, "interface": "public"},
        headers={"OpenStack-API-Version": "placement 1.9"} if service == "placement" else {},
    )
    if answer.status_code != want:
        print(f"{user}: {method} {service} {path}: {answer.status_code}, want {want}: {answer.text[:300]}")


cloud = openstack.connect().identity
project = cloud.create_project(name=NAME, domain_id="default")
for number, name in enumerate(("reader", "member", "manager")):
    role = cloud.find_role(name, ignore_missing=False)
    user = cloud.create_user(name=f"{NAME}-{name}", password=PASSWORD, domain_id="default")
    cloud.assign_project_role_to_user(project, user, role)
    cloud.assign_domain_role_to_user("default", user, role)
    login = log_in(user.name, project_id=project.id)
    for *request, want in REQUESTS:
        ask(name, login, project.id, *request, want[number])
    made = {"project": {"name": f"{NAME}-of-{name}", "domain_id": "default"}}
    ask(f"{name} of a domain", log_in(user.name, domain_id="default"), "", "identity", "POST", "/projects", made, (403, 403, 201)[number])
