"""Waits until jobs are complete and the pods of workloads are ready.

The arguments are RESOURCE/NAME. A name that ends with "*" stands for the newest job of that name.
"""
import json
import os
import ssl
import sys
import time
import urllib.error
import urllib.request

HOME = os.environ.get("KOLLA_WAIT", "/run/kolla-wait")
HOST = os.environ["KUBERNETES_SERVICE_HOST"]
SERVER = f"https://{f'[{HOST}]' if ':' in HOST else HOST}:{os.environ['KUBERNETES_SERVICE_PORT']}"
GONE = 60  # seconds after which a job that is not there counts as complete: somebody removed it


def get(path):
    with open(os.path.join(HOME, "token"), encoding="ascii") as file:
        headers = {"Authorization": "Bearer " + file.read().strip()}
    context = ssl.create_default_context(cafile=os.path.join(HOME, "ca.crt"))
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT  # CAs of clusters often lack extensions that Python 3.13 wants
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=context))
    with opener.open(urllib.request.Request(SERVER + path, headers=headers), timeout=10) as answer:
        return json.load(answer)


def find(resource, name):
    group = "batch" if resource == "jobs" else "apps"
    path = f"/apis/{group}/v1/namespaces/{os.environ['NAMESPACE']}/{resource}"
    if name.endswith("*"):
        prefix = name[:-1]
        found = [o for o in get(path)["items"] if o["metadata"]["name"].rpartition("-")[0] + "-" == prefix]
        return max(found, key=lambda o: o["metadata"]["creationTimestamp"], default=None)
    try:
        return get(f"{path}/{name}")
    except urllib.error.HTTPError as e:
        if e.code == 404:
            return None
        raise


def ready(resource, o):
    spec, status = o["spec"], o.get("status", {})
    if resource == "jobs":
        return any(c["type"] == "Complete" and c["status"] == "True" for c in status.get("conditions", []))
    if status.get("observedGeneration", 0) < o["metadata"]["generation"]:
        return False
    on_delete = spec.get("updateStrategy", {}).get("type") == "OnDelete"
    if resource == "daemonsets":
        wanted = status.get("desiredNumberScheduled", 0)
        return status.get("numberReady", 0) >= wanted and (on_delete or status.get("updatedNumberScheduled", 0) >= wanted)
    wanted = spec.get("replicas", 1)
    return status.get("readyReplicas", 0) >= wanted and (on_delete or status.get("updatedReplicas", 0) >= wanted)


def state(each, seconds):
    """Returns a reason to wait, or nothing."""
    resource, name = each.split("/")
    try:
        found = find(resource, name)
    except OSError as e:
        return f"{each}: {e}"
    if found is None:
        return None if resource == "jobs" and seconds > GONE else f"{each} is not there"
    return None if ready(resource, found) else f"{each} is not {'complete' if resource == 'jobs' else 'ready'}"


def main():
    began, told = time.monotonic(), None
    while True:
        seconds = time.monotonic() - began
        waits = [reason for reason in (state(each, seconds) for each in sys.argv[1:]) if reason]
        if not waits:
            return
        if seconds > float(os.environ["SECONDS"]):
            sys.exit("gave up: " + "; ".join(waits))
        if waits != told:
            print("waiting: " + "; ".join(waits), flush=True)
            told = waits
        time.sleep(2)


main()
