"""Takes away the network namespaces in which the agent answers servers, with the processes
in them and the ports of the node's bridge that lead there."""

import json
import os
import signal
import socket
import subprocess
import sys

root = sys.argv[1]  # of the node, which tests have elsewhere
namespaces = [name for name in os.listdir(root + "/run/netns") if name.startswith("ovnmeta-")]


def transact(*operations):
    """Changes the database of Open vSwitch, without its tools, which the image may lack."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(20)
        connection.connect(root + "/run/openvswitch/db.sock")
        request = {"id": "leave", "method": "transact", "params": ["Open_vSwitch", *operations]}
        connection.sendall(json.dumps(request).encode())
        text = ""
        while True:
            text += connection.recv(65536).decode()
            try:
                answer = json.loads(text)
                break
            except ValueError:
                continue
    failed = [r["error"] for r in answer["result"] if r and r.get("error")]
    if answer.get("error") or failed:
        sys.exit("Open vSwitch: %s" % (answer.get("error") or failed))
    return answer["result"]


for name in namespaces:
    listed = subprocess.run(["ip", "netns", "pids", name], capture_output=True, text=True, check=True)
    for pid in listed.stdout.split():
        try:
            os.kill(int(pid), signal.SIGKILL)
        except ProcessLookupError:
            pass
    subprocess.run(["ip", "netns", "delete", name], check=True)

# The agent names the two ends of a pair after the network.
ports = ["tap%s0" % name.removeprefix("ovnmeta-")[:10] for name in namespaces]
found = transact(*({"op": "select", "table": "Port", "where": [["name", "==", port]], "columns": ["_uuid"]} for port in ports)) if ports else []
rows = [row["_uuid"] for answer in found for row in answer["rows"]]
if rows:
    transact({"op": "mutate", "table": "Bridge", "where": [], "mutations": [["ports", "delete", ["set", rows]]]})
