"""Brings back virtual hosts, users, permissions, policies and parameters from a backup.

Users that exist keep their passwords, which are those of the present Secrets. Queues are left out:
services declare their own, and those of pods that are gone would fill up.
"""

import json
import os
import subprocess

COPY = "/tmp/restore"
PARTS = ["vhosts", "users", "permissions", "topic_permissions", "policies", "parameters", "global_parameters"]


def main():
    with open(COPY, encoding="utf-8") as file:
        saved = json.load(file)
    listed = subprocess.run(["rabbitmqctl", "--silent", "list_users", "--formatter", "json"], check=True, stdout=subprocess.PIPE)
    present = {user["user"] for user in json.loads(listed.stdout)}
    parts = {part: saved[part] for part in PARTS if part in saved}
    parts["users"] = [user for user in saved["users"] if user["name"] not in present]
    with open(COPY, "w", encoding="utf-8") as file:
        json.dump(parts, file)
    subprocess.run(["rabbitmqctl", "--silent", "import_definitions", COPY], check=True)
    os.remove(COPY)


main()
