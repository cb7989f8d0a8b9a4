"""Brings back virtual hosts, users, permissions, policies and parameters from a backup.

Users that exist stay as they are: their passwords are those of the present Secrets. Queues, exchanges
and bindings are left out: services declare their own, and queues of pods that are gone would fill up.
"""

import json
import os
import subprocess
import sys

COPY = "/tmp/restore"
PARTS = ["vhosts", "users", "permissions", "topic_permissions", "policies", "parameters", "global_parameters"]


def rabbitmqctl(*args):
    """Returns the output of a command. After an error, what the command says stays the last line."""
    done = subprocess.run(["rabbitmqctl", "--silent", *args], check=False, stdout=subprocess.PIPE)
    if done.returncode:
        sys.exit(done.returncode)
    return done.stdout


def main():
    with open(COPY, encoding="utf-8") as file:
        saved = json.load(file)
    present = {user["user"] for user in json.loads(rabbitmqctl("list_users", "--formatter", "json"))}
    parts = {part: saved[part] for part in PARTS if part in saved}
    parts["users"] = [user for user in saved["users"] if user["name"] not in present]
    with open(COPY, "w", encoding="utf-8") as file:
        json.dump(parts, file)
    rabbitmqctl("import_definitions", COPY)


try:
    main()
finally:
    os.remove(COPY)
