"""Makes a virtual host of RabbitMQ, and a user of the same name who may do everything in it.

Or, where THERE says what all services of the cloud have together, it deletes the virtual
hosts of other services of the cloud, with their users. They carry their owner in the
description. It says what is to be, so that it can run again at any time, with another password too,
and in two places at once. It speaks HTTP, which needs no Erlang and no cookie.
"""

import base64
import json
import os
import sys
import time
import urllib.error
import urllib.request
from urllib.parse import quote

TRIES = 60
OWNED = "Managed by kolla: "  # and CLOUD/SERVICE


def read(variable):
    with open(os.environ[variable], encoding="utf-8") as file:
        return file.read()


def call(method, path, **body):
    login = base64.b64encode(f"admin:{read('ADMIN_PASSWORD_FILE')}".encode()).decode()
    request = urllib.request.Request(
        os.environ["MANAGEMENT_URL"] + "/api/" + path,
        data=json.dumps(body).encode() if body else None,
        method=method,
        headers={"Authorization": f"Basic {login}", "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=30) as reply:
        return json.loads(reply.read() or "null")


def delete(path):
    try:
        call("DELETE", path)
    except urllib.error.HTTPError as e:
        if e.code != 404:  # another run was faster
            raise


def make(name):
    quoted = quote(name, safe="")
    call("PUT", f"vhosts/{quoted}", description=OWNED + os.environ["OWNER"])
    call("PUT", f"users/{quoted}", password=read("PASSWORD_FILE"), tags="")
    call("PUT", f"permissions/{quoted}/{quoted}", configure=".*", write=".*", read=".*")
    return f"virtual host and user {name} are there"


def clean(there):
    """The user goes first: the mark is the virtual host's."""
    mine = OWNED + os.environ["OWNER"] + "/"
    for vhost in call("GET", "vhosts"):
        name, mark = vhost["name"], vhost.get("description") or ""
        if not mark.startswith(mine) or mark.removeprefix(mine) in there["services"] or name in there["names"]:
            continue
        quoted = quote(name, safe="")
        if there["released"]:
            call("PUT", f"vhosts/{quoted}", description="made by kolla")
        else:
            delete(f"users/{quoted}")
            delete(f"vhosts/{quoted}")
        print(f"virtual host and user {name} {'released' if there['released'] else 'deleted'}", flush=True)
    return "nothing is left of services that are gone"


def main():
    there = json.loads(os.environ.get("THERE", "null"))
    for number in range(TRIES):
        try:
            done = clean(there) if there else make(os.environ["QUEUE"])
        except urllib.error.HTTPError as e:
            # A server that is starting answers before it is ready.
            if e.code in (400, 401, 403):
                sys.exit(f"RabbitMQ refuses: {e}: {e.read().decode(errors='replace')}")
            problem = e
        except OSError as e:
            problem = e
        else:
            print(done)
            return
        print(f"once more: {problem}", flush=True)
        time.sleep(1)
    sys.exit(f"no answer in {TRIES} tries: {problem}")


main()
