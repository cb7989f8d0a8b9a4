"""Decides how a member of a cluster starts: with its data, as the first one of a new cluster, or as
a new one of the cluster that runs.

RabbitMQ's own discovery begins another cluster when it has waited for long enough. Then there are
two, and clients see one or the other. So a member without data begins a cluster only if it is the
first one, and all others have said that they have no data either. Otherwise it waits for a member
that runs. A member that stopped while it joined starts anew beside a member that runs. If none runs,
its data may be needed for a majority: it goes on with them.
"""

import os
import re
import shutil
import socket
import subprocess
import sys
import threading
import time

HOME = os.environ["HOME"]
MEMBERS = os.environ["MEMBERS"].split()  # host names, the first member first
AMQP, ASK = int(os.environ["AMQP_PORT"]), int(os.environ["ASK_PORT"])
OWN = next(host for host in MEMBERS if host.split(".")[0] == os.uname().nodename)
OTHERS = [host for host in MEMBERS if host != OWN]
EMPTY = b"no data\n"

DATA = f"{HOME}/mnesia/rabbit@{OWN}"
JOINING = f"{HOME}/joining"  # the host name of the member that is joined
ASTRAY = f"{HOME}/astray"  # the data are not of this cluster (see member.sh and leave.sh)
BEGINS = f"{HOME}/begins"
STREAMS = f"{HOME}/streams-missing"
PEERS = f"{HOME}/conf.d/peers.conf"

# Whether a member works and has settled (see member.sh), whether it has Khepri, and the members.
STATE = """{rabbit:is_running() andalso not lists:any(fun(F) -> filelib:is_file(filename:join(os:getenv("HOME"), F)) end, ["begins", "joining"]),
 rabbit_feature_flags:is_enabled(khepri_db, non_blocking), rabbit_nodes:list_members()}."""


said = set()


def say(text):
    """Prints a text once: waiting takes long."""
    if text not in said:
        print(text, flush=True)
        said.add(text)


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path + ".new", "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(path + ".new", path)


def remove(*paths):
    for path in paths:
        if os.path.exists(path):
            os.remove(path)


def has_data():
    return os.path.isdir(DATA) and len(os.listdir(DATA)) > 0


def forget_data():
    """Deletes the data. A member that is killed meanwhile has all of them, or none."""
    for path in (DATA, DATA + "-plugins-expand"):
        shutil.rmtree(path + "-gone", ignore_errors=True)
        if os.path.isdir(path):
            os.rename(path, path + "-gone")
            shutil.rmtree(path + "-gone")
    remove(DATA + "-feature_flags", PEERS, JOINING, ASTRAY)


def answer(connections):
    """Tells whoever asks that this member has no data."""
    while True:
        try:
            connection, _ = connections.accept()
            with connection:
                connection.sendall(EMPTY)
        except OSError:  # of one that asked and went away
            continue


def connects(host, port):
    try:
        return socket.create_connection((host, port), timeout=3)
    except OSError:
        return None


def is_empty(host):
    connection = connects(host, ASK)
    if not connection:
        return False
    with connection:
        try:
            return connection.recv(len(EMPTY)) == EMPTY
        except OSError:
            return False


def rabbitmqctl(host, *args):
    return subprocess.run(["rabbitmqctl", "-n", f"rabbit@{host}", *args], capture_output=True, text=True, check=False)


def joins(host):
    """Prepares to join a member, and reports whether the member works."""
    connection = connects(host, AMQP)
    if not connection:
        return False
    connection.close()
    state = rabbitmqctl(host, "eval", STATE)
    found = re.match(r"\{true,\s*(\w+),", state.stdout)
    if not found:
        say(f"{host} is not ready: {(state.stdout + state.stderr).strip()}")
        return False
    # Mnesia refuses a member that it knows without its data. Khepri takes it back, with its queues.
    if found[1] != "true" and f"rabbit@{OWN}" in re.findall(r"rabbit@[\w.-]+", state.stdout):
        forgotten = rabbitmqctl(host, "forget_cluster_node", f"rabbit@{OWN}")
        print((forgotten.stdout + forgotten.stderr).strip(), flush=True)
        if forgotten.returncode:
            return False
    names = "".join(f"cluster_formation.classic_config.nodes.{i} = rabbit@{h}\n" for i, h in enumerate((host, OWN), 1))
    forget_data()
    remove(BEGINS)
    write(PEERS, names)
    write(STREAMS, "")
    write(JOINING, host)
    print(f"joins {host}", flush=True)
    return True


def main():
    os.makedirs(os.path.dirname(PEERS), exist_ok=True)
    if os.path.exists(ASTRAY):
        forget_data()
    if has_data():
        joining = os.path.exists(JOINING)
        if joining and any(joins(host) for host in OTHERS):
            return
        if not joining:
            remove(PEERS)
        print("goes on with its data", flush=True)
        return
    forget_data()
    family = socket.AF_INET6 if socket.has_dualstack_ipv6() else socket.AF_INET
    connections = socket.create_server(("", ASK), family=family, dualstack_ipv6=family == socket.AF_INET6)
    threading.Thread(target=answer, args=(connections,), daemon=True).start()
    while True:
        if any(joins(host) for host in OTHERS):
            return
        silent = [host for host in OTHERS if not is_empty(host)]
        if not silent and OWN == MEMBERS[0]:
            write(BEGINS, "")
            print("begins the cluster", flush=True)
            return
        say("waits for a member that runs" + (", or the word of " + ", ".join(silent) if silent else ""))
        time.sleep(2)


try:
    main()
except OSError as e:
    sys.exit(f"cannot find out how to start: {e}")
