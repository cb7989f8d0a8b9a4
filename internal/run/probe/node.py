"""Reports facts of the node that its pod runs on, as one line of JSON.

The environment variable PROBE has the questions, as JSON. The argument is the root directory, which tests
have elsewhere. Directories of the node are below /host of it, if the pod may mount them. A fact that the
pod cannot find out is null.
"""
import concurrent.futures
import errno
import http.client
import json
import os
import socket
import sys
import time
import urllib.parse

PATIENCE = 4  # seconds for one connection
CLOSED_PORT = 33437  # of UDP; traceroute uses it because nothing listens there
IP_MTU_DISCOVER, IP_MTU, IPV6_MTU_DISCOVER, IPV6_MTU, NEVER_CUT = 10, 14, 23, 24, 2  # Linux


def read(root, *path):
    """Returns the content of a file, or None."""
    try:
        with open(os.path.join(root, *path), encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return None


def resolver(root):
    """Returns the settings of the resolver. glibc uses the last line of a kind, except of name servers."""
    found = {"nameservers": [], "search": [], "ndots": 1}
    for line in (read(root, "etc/resolv.conf") or "").splitlines():
        key, *values = line.split() or [""]
        if key == "nameserver":
            found["nameservers"] += values[:1]
        elif key == "search":
            found["search"] = values
        elif key == "options":
            for option in values:
                if option.startswith("ndots:"):
                    found["ndots"] = int(option[len("ndots:"):])
    return found


def resolve(name):
    """Looks a name up as programs do, with the resolver of the C library."""
    began = time.monotonic()
    addresses, problem = [], ""
    try:
        addresses = sorted({found[4][0] for found in socket.getaddrinfo(name, None, proto=socket.IPPROTO_TCP)})
    except socket.gaierror as err:
        no_name = (socket.EAI_NONAME, getattr(socket, "EAI_NODATA", socket.EAI_NONAME))
        problem = "no such name" if err.errno in no_name else "no answer" if err.errno == socket.EAI_AGAIN else str(err.strerror)
    return {"name": name, "addresses": addresses, "problem": problem, "seconds": time.monotonic() - began}


def cause(err):
    """Returns the reason of a failed connection, without text of the server."""
    if isinstance(err, TimeoutError):
        return ": no answer in time"
    if isinstance(err, http.client.RemoteDisconnected):
        return ": it closes them"
    if isinstance(err, http.client.HTTPException):
        return ""
    return ": " + (getattr(err, "strerror", None) or str(err)).lower()


def reach(address):
    """Connects to HOST:PORT, or opens an http URL without following redirects."""
    began = time.monotonic()
    found = {"address": address, "connected": 0, "answered": 0, "status": 0, "problem": ""}
    url = urllib.parse.urlsplit(address if "://" in address else "tcp://" + address)
    try:
        connection = socket.create_connection((url.hostname, url.port or {"https": 443}.get(url.scheme, 80)), PATIENCE)
    except (OSError, ValueError) as err:
        found["problem"] = "cannot connect" + cause(err)
        return found
    found["connected"] = time.monotonic() - began
    with connection:
        if url.scheme == "http":
            try:
                client = http.client.HTTPConnection(url.hostname, url.port)
                client.sock = connection
                client.request("GET", urllib.parse.urlunsplit(("", "", url.path or "/", url.query, "")))
                found["status"] = client.getresponse().status
                found["answered"] = time.monotonic() - began
            except (OSError, http.client.HTTPException) as err:
                found["problem"] = "it accepts connections, but does not answer in HTTP" + cause(err)
    return found


def arrives(address, size, tries=3):
    """Sends a datagram of size bytes, all headers included, that nobody may cut, to a closed port.

    Returns the size that fits (True: all of it) or None without an answer. A host answers that the port is closed.
    """
    six = ":" in address
    with socket.socket(socket.AF_INET6 if six else socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.setsockopt(socket.IPPROTO_IPV6 if six else socket.IPPROTO_IP, IPV6_MTU_DISCOVER if six else IP_MTU_DISCOVER, NEVER_CUT)
        s.settimeout(1)
        s.connect((address, CLOSED_PORT))
        mtu = s.getsockopt(socket.IPPROTO_IPV6 if six else socket.IPPROTO_IP, IPV6_MTU if six else IP_MTU)
        payload = bytes((size or mtu) - (48 if six else 28))
        for _ in range(tries):
            try:
                s.send(payload)
                s.recv(1)
            except TimeoutError:
                continue
            except ConnectionRefusedError:
                return mtu, True
            except OSError as err:
                if err.errno == errno.EMSGSIZE:
                    return mtu, s.getsockopt(socket.IPPROTO_IPV6 if six else socket.IPPROTO_IP, IPV6_MTU if six else IP_MTU)
                return mtu, None
        return mtu, None


def path(address):
    """Compares a small datagram with one that fills the MTU of the pod. large is null if the small one got no answer."""
    found = {"address": address, "mtu": 0, "large": None}
    try:
        found["mtu"], small = arrives(address, 100)
        if small is True:
            found["large"] = arrives(address, 0)[1] is True
    except OSError:
        pass
    return found


def module(name, symbol, symbols, root):
    """Returns "loaded", "loadable", "missing" or None for a module of the kernel, which may also be built in."""
    if symbol in symbols or os.path.isdir(os.path.join(root, "sys/module", name)):
        return "loaded"
    if not os.path.isdir(os.path.join(root, "host/lib")):
        return None
    for file in ("modules.builtin", "modules.dep"):
        for line in (read(root, "host/lib/modules", os.uname().release, file) or "").splitlines():
            base = os.path.basename(line.split(":")[0]).split(".")[0]
            if base.replace("-", "_") == name:
                return "loadable"
    return "missing"


def selinux(root):
    enforce = read(root, "host/sys-fs/selinux/enforce")
    if enforce is not None:
        return "enforcing" if enforce.strip() == "1" else "permissive"
    known = os.path.isdir(os.path.join(root, "host/sys-fs")) and not os.path.exists(os.path.join(root, "host/sys-fs/selinux/enforce"))
    return "disabled" if known else None


def kernel(questions, root):
    wanted = questions.get("modules") or {}
    symbols = set()
    if wanted:
        for line in (read(root, "proc/kallsyms") or "").splitlines():
            word = line.split()
            if len(word) > 2 and word[2] in wanted.values():
                symbols.add(word[2])
    flags = (read(root, "proc/cpuinfo") or "").split()
    return {
        "modules": {name: module(name, symbol, symbols, root) for name, symbol in wanted.items()},
        "kvm": os.path.isdir(os.path.join(root, "sys/class/misc/kvm")),
        "virtualization": "vmx" in flags or "svm" in flags or os.uname().machine not in ("x86_64", "i686"),
        "cgroup": 2 if os.path.exists(os.path.join(root, "sys/fs/cgroup/cgroup.controllers")) else 1,
        "selinux": selinux(root),
    }


def initiators(root):
    """Returns the names of the node for iSCSI and NVMe, as far as it has some."""
    found = []
    for line in (read(root, "host/iscsi/initiatorname.iscsi") or "").splitlines():
        if line.startswith("InitiatorName="):
            found.append(line[len("InitiatorName="):].strip())
    found += (read(root, "host/nvme/hostnqn") or "").split()[:1]
    return found


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else "/"
    questions = json.loads(os.environ["PROBE"])
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        answers = {key: pool.map(work, questions.get(key) or []) for key, work in {"names": resolve, "reached": reach, "paths": path}.items()}
        report = {key: list(found) for key, found in answers.items()}
    report |= {"format": 1, "resolver": resolver(root), "kernel": kernel(questions, root), "initiators": initiators(root)}
    print(json.dumps(report), flush=True)


main()
