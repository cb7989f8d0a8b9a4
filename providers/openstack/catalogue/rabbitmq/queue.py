"""Makes a virtual host of RabbitMQ, and a user of the same name who may do everything in it.

It says what is to be, so that it can run again at any time, with another password too,
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


def read(variable):
    with open(os.environ[variable], encoding="utf-8") as file:
        return file.read()


def put(path, **body):
    login = base64.b64encode(f"admin:{read('ADMIN_PASSWORD_FILE')}".encode()).decode()
    request = urllib.request.Request(
        os.environ["MANAGEMENT_URL"] + "/api/" + path,
        data=json.dumps(body).encode(),
        method="PUT",
        headers={"Authorization": f"Basic {login}", "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=30):
        pass


def make(name, password):
    quoted = quote(name, safe="")
    put(f"vhosts/{quoted}", description="made by kolla")
    put(f"users/{quoted}", password=password, tags="")
    put(f"permissions/{quoted}/{quoted}", configure=".*", write=".*", read=".*")


def main():
    name = os.environ["QUEUE"]
    for number in range(TRIES):
        try:
            make(name, read("PASSWORD_FILE"))
        except urllib.error.HTTPError as e:
            # A server that is starting answers before it is ready.
            if e.code in (400, 401, 403):
                sys.exit(f"RabbitMQ refuses: {e}: {e.read().decode(errors='replace')}")
            problem = e
        except OSError as e:
            problem = e
        else:
            print(f"virtual host and user {name} are there")
            return
        print(f"once more: {problem}", flush=True)
        time.sleep(1)
    sys.exit(f"no answer in {TRIES} tries: {problem}")


main()
