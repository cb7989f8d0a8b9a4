"""Enables what the version of RabbitMQ can do, once all members run it.

A member of the next version does not start without it. Experimental things stay off: Khepri in a
cluster that began as one node, until version 4.2. It says what is to be, so that it can run again at
any time.

With the argument "check" it enables nothing. It fails if the image has another version than the members
and they lack feature flags.
"""

import base64
import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request

TRIES = 60


def call(method, path):
    with open(os.environ["ADMIN_PASSWORD_FILE"], encoding="utf-8") as file:
        login = base64.b64encode(f"admin:{file.read()}".encode()).decode()
    request = urllib.request.Request(
        os.environ["MANAGEMENT_URL"] + "/api/" + path,
        data=b"{}" if method == "PUT" else None,
        method=method,
        headers={"Authorization": f"Basic {login}", "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=120) as reply:
        return json.loads(reply.read() or "null")


def enable():
    """Enables all flags that are off, and returns the names of those that stay off."""
    for off in list(left()):
        print(f"enables {off}", flush=True)
        call("PUT", f"feature-flags/{off}/enable")
    return left()


def left():
    return [f["name"] for f in call("GET", "feature-flags") if f["state"] != "enabled" and f["stability"] == "stable"]


def check():
    image = subprocess.run(["rabbitmqctl", "--quiet", "version"], stdout=subprocess.PIPE, text=True).stdout.strip()
    try:
        members = call("GET", "overview")["rabbitmq_version"]
        names = left()
    except OSError as e:
        sys.exit(f"RabbitMQ does not answer at {os.environ['MANAGEMENT_URL']}: {e}")
    print(f"RabbitMQ {members} runs, the image has {image}; feature flags that are off: {', '.join(names) or 'none'}")
    if names and image.split(".")[:2] != members.split(".")[:2]:
        with open("/dev/termination-log", "w") as log:
            print(
                f"Failure: RabbitMQ {members} lacks feature flags, without which {image} may not start: {', '.join(names)}. "
                "Declare the release that runs, and apply it: job feature-flags enables them.",
                file=log,
            )
        sys.exit(2)


def main():
    if sys.argv[1:] == ["check"]:
        return check()
    for _ in range(TRIES):
        try:
            names = enable()
            if not names:
                print("all feature flags are enabled")
                return
            problem = "these are still off: " + ", ".join(names)
        except urllib.error.HTTPError as e:
            # A member that is down, or of the version before, is the cause of a 400.
            problem = f"{e}: {e.read().decode(errors='replace')}"
        except OSError as e:
            problem = e
        print(f"once more: {problem}", flush=True)
        time.sleep(2)
    sys.exit(f"feature flags are still off after {TRIES} tries: {problem}")


main()
