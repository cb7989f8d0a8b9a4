"""Registers a service with Keystone: its users, roles, services and endpoints.

WANTED says what is to be there, as JSON; or what all services of the cloud have together,
and then what is marked as that of another service of the cloud is taken away. Each run looks first and changes only what
differs, so that it can run again at any time, and in two places at once. Whatever this
script makes or adopts carries the name of its owner, and only what carries the name of
this owner, or of a service of this cloud that is gone, is ever deleted. Projects, domains and roles are kept: others may use them.

Keystone takes attributes of any name, but refuses to show some objects that have one:
endpoints and domains carry their owner in the description.
"""

import json
import os
import random
import sys
import time
from urllib.parse import urlencode

from keystoneauth1 import exceptions, session
from keystoneauth1.identity import v3

OWNED = "Managed by kolla: "  # and CLOUD/SERVICE
OWNER = {"user": "kolla_owner", "service": "kolla_owner", "endpoint": "description", "domain": "description"}
GRANTS = "kolla_grants"  # an attribute of users: the roles that this script gave
PASSES = 8


class Refused(Exception):
    """Something that running again does not help against."""


class Keystone:
    def __init__(self, url, region, owner, auth):
        self.url, self.region, self.owner = url, region, owner
        self.session = session.Session(auth=auth, connect_retries=6, timeout=60)
        self.changed = False

    def call(self, method, path, body=None):
        reply = self.session.request(
            self.url + path, method, json=body, authenticated=True, headers={"Accept": "application/json"}
        )
        return reply.json() if reply.content else None

    def list(self, kind, **query):
        return self.call("GET", f"/{kind}?{urlencode(query)}")[kind]

    def create(self, kind, what, **values):
        created = self.call("POST", f"/{kind}s", {kind: values})[kind]
        self.say(f"{what} created")
        return created

    def update(self, kind, found, what, **values):
        """Changes what differs."""
        differs = {key: value for key, value in values.items() if found.get(key) != value}
        if differs:
            self.call("PATCH", f"/{kind}s/{found['id']}", {kind: differs})
            self.say(f"{what} changed: {', '.join(sorted(differs))}")

    def delete(self, kind, found, what):
        self.call("DELETE", f"/{kind}s/{found['id']}")
        self.say(f"{what} deleted")

    def say(self, text):
        self.changed = True
        print(text, flush=True)

    def mark(self, kind):
        return {OWNER[kind]: OWNED + self.owner}

    def ours(self, kind, found):
        return found.get(OWNER[kind]) == OWNED + self.owner

    def abandoned(self, kind, found, services):
        """Reports whether it is of a service of this cloud that has nothing here any more."""
        mine, mark = OWNED + self.owner + "/", found.get(OWNER[kind]) or ""
        return mark.startswith(mine) and mark.removeprefix(mine) not in services

    def foreign(self, kind, found):
        """Reports whether another cloud owns it."""
        mark = found.get(OWNER[kind]) or ""
        return mark.startswith(OWNED) and not mark.startswith(OWNED + self.owner.split("/")[0] + "/")

    def ensure(self, kind, what, name, found_by=None, **values):
        """Finds something by its name, or creates it."""
        found = self.list(kind + "s", name=name, **(found_by or {}))
        return found[0] if found else self.create(kind, f"{what} {name}", name=name, **(found_by or {}), **values)

    # Users

    def register_users(self, users, roles):
        for name in roles:
            self.ensure("role", "role", name)
        domains = {"Default": self.ensure("domain", "domain", "Default")["id"]}
        for domain in self.list("domains"):
            if self.ours("domain", domain):
                domains[domain["name"]] = domain["id"]
        for user in users:
            name = user["domain"]
            domains[name] = self.ensure("domain", "domain", name, **self.mark("domain"))["id"]
        kept = set()
        for user in users:
            kept.add(self.register_user(user, domains))
        for domain in domains.values():
            for found in self.list("users", domain_id=domain):
                if self.ours("user", found) and found["id"] not in kept:
                    self.delete("user", found, f"user {found['name']}")

    def register_user(self, user, domains):
        what, domain = f"user {user['name']}", domains[user["domain"]]
        with open(os.path.join(os.environ["PASSWORDS"], user["password_file"]), encoding="utf-8") as file:
            password = file.read()
        scope = f"domains/{domain}"
        if user["project"]:
            project = self.ensure("project", "project", user["project"], {"domain_id": domains["Default"]})
            scope = f"projects/{project['id']}"
        grants = sorted(f"{scope}/roles/{self.ensure('role', 'role', role)['id']}" for role in user["roles"])
        found = self.list("users", name=user["name"], domain_id=domain)
        if found:
            found = found[0]
            if found["id"] == self.session.get_user_id():
                raise Refused(f"{what} is the administrator: give the user of this service another name")
            if self.foreign("user", found):
                raise Refused(f"{what} is another cloud's: give the user of this cloud another name")
            if found["enabled"] and not self.logs_in(found["id"], password):
                self.call("PATCH", f"/users/{found['id']}", {"user": {"password": password}})
                self.say(f"{what} changed: password")
        else:
            found = self.create(
                "user", what, name=user["name"], domain_id=domain, password=password, enabled=True, **self.mark("user")
            )
        self.grant(found, what, grants)
        self.update("user", found, what, enabled=True, **self.mark("user"), **{GRANTS: grants})
        return found["id"]

    def logs_in(self, user, password):
        auth = v3.Password(self.url, user_id=user, password=password, unscoped=True)
        try:
            auth.get_access(self.session)
        except exceptions.Unauthorized:
            return False
        return True

    def grant(self, user, what, grants):
        """Gives roles, and takes away those that were given here before."""
        has = set()
        for assignment in self.list("role_assignments", **{"user.id": user["id"]}):
            for kind, scope in assignment["scope"].items():
                if kind in ("domain", "project"):
                    has.add(f"{kind}s/{scope['id']}/roles/{assignment['role']['id']}")
        for grant in grants:
            if grant not in has:
                self.assign("PUT", user, grant)
                self.say(f"{what}: role given")
        for grant in user.get(GRANTS) or []:
            if grant in has and grant not in grants:
                self.assign("DELETE", user, grant)
                self.say(f"{what}: role taken away")

    def assign(self, method, user, grant):
        kind, scope, _, role = grant.split("/")
        self.call(method, f"/{kind}/{scope}/users/{user['id']}/roles/{role}")

    # Services and endpoints

    def register_endpoints(self, endpoints):
        """Looks once and then changes: two runs that look at the same keep and delete the same."""
        if endpoints and self.region not in (region["id"] for region in self.list("regions")):
            self.create("region", f"region {self.region}", id=self.region)
        services, everywhere = self.list("services"), self.list("endpoints")
        kept = set()
        for wanted in endpoints:
            service = self.register_service(services, wanted)
            kept.add(service["id"])
            for interface, url in (("internal", wanted["url"]), ("public", wanted["public_url"])):
                place = {"service_id": service["id"], "interface": interface, "region_id": self.region}
                kept.add(self.register_endpoint(everywhere, place, f"{wanted['type']} endpoint, {interface}", url))
        for found in everywhere:
            if self.ours("endpoint", found) and found["region_id"] == self.region and found["id"] not in kept:
                self.delete("endpoint", found, f"endpoint {found['url']}")
        used = {found["service_id"] for found in everywhere if found["id"] in kept or not self.ours("endpoint", found)}
        for found in services:
            if self.ours("service", found) and found["id"] not in kept | used:
                self.delete("service", found, f"service {found['type']}")

    def first(self, kind, listed, **values):
        """Chooses one of those with the given values: the same one in every run."""
        alike = [one for one in listed if all(one.get(key) == value for key, value in values.items())]
        return min(alike, key=lambda one: (not self.ours(kind, one), one["id"]), default=None)

    def register_service(self, services, wanted):
        what, named = f"service {wanted['type']}", {"type": wanted["type"], "name": wanted["name"]}
        found = self.first("service", services, **named)
        if not found:
            return self.create("service", what, **named, **self.mark("service"))
        # Regions share the entry of a service, so that it may be another cloud's.
        self.update("service", found, what, enabled=True, **({} if self.foreign("service", found) else self.mark("service")))
        return found

    def register_endpoint(self, everywhere, place, what, url):
        found = self.first("endpoint", everywhere, **place)
        if not found:
            return self.create("endpoint", what, **place, url=url, **self.mark("endpoint"))["id"]
        if self.foreign("endpoint", found):
            raise Refused(f"the {what} in region {self.region} is another cloud's: give this cloud another region")
        self.update("endpoint", found, what, url=url, enabled=True, **self.mark("endpoint"))
        return found["id"]

    # Services that are gone

    def clean(self, there):
        """Deletes what they have left behind, unless another service declares the same: that adopts it."""
        users = {(user["domain"], user["name"]) for user in there["users"]}
        named = {(endpoint["type"], endpoint["name"]) for endpoint in there["endpoints"]}
        leave = self.release if there["released"] else self.delete
        for domain in self.list("domains"):
            if domain["name"] == "Default" or (domain.get("description") or "").startswith(f"{OWNED}{self.owner}/"):
                for found in self.list("users", domain_id=domain["id"]):
                    kept = (domain["name"], found["name"]) in users or found["id"] == self.session.get_user_id()
                    if self.abandoned("user", found, there["services"]) and not kept:
                        leave("user", found, f"user {found['name']}")
        services, everywhere = self.list("services"), self.list("endpoints")
        declared, used = {found["id"] for found in services if (found["type"], found["name"]) in named}, set()
        for found in everywhere:
            here = found["region_id"] == self.region and found["service_id"] not in declared
            if here and self.abandoned("endpoint", found, there["services"]):
                leave("endpoint", found, f"endpoint {found['url']}")
            else:
                used.add(found["service_id"])
        for found in services:
            if self.abandoned("service", found, there["services"]) and found["id"] not in declared | used:
                leave("service", found, f"service {found['type']}")

    def release(self, kind, found, what):
        self.update(kind, found, what, **{OWNER[kind]: ""})


def register(keystone, wanted):
    """Goes over all until nothing is left to change: what another run did meanwhile is seen."""
    for number in range(PASSES):
        keystone.changed, problem = False, None
        try:
            if "users" in wanted:
                keystone.register_users(wanted["users"], wanted.get("roles", []))
            if "endpoints" in wanted:
                keystone.register_endpoints(wanted["endpoints"])
            if "there" in wanted:
                keystone.clean(wanted["there"])
        except exceptions.HttpError as e:
            # Another run was faster, or Keystone is not there for a moment.
            if e.http_status in (401, 403):
                raise Refused(f"Keystone refuses the administrator: {e}") from e
            problem = e
            print(f"once more: {e}", flush=True)
            time.sleep(random.uniform(0, min(5, 0.2 * 2**number)))
        if not keystone.changed and not problem:
            print("everything is registered")
            return
    raise Refused(f"not registered after {PASSES} passes: {problem or 'something undoes what is registered'}")


def main():
    with open(os.environ["OS_PASSWORD_FILE"], encoding="utf-8") as file:
        password = file.read()
    wanted = json.loads(os.environ["WANTED"])
    auth = v3.Password(
        os.environ["OS_AUTH_URL"],
        username=os.environ.get("OS_USERNAME", "admin"),
        password=password,
        project_name="admin",
        user_domain_name="Default",
        project_domain_name="Default",
    )
    try:
        register(Keystone(os.environ["OS_AUTH_URL"], os.environ["OS_REGION_NAME"], wanted["owner"], auth), wanted)
    except (Refused, exceptions.ClientException) as e:
        sys.exit(str(e))


main()
