"""Serves metrics of OVSDB servers at /metrics: python3 -c SCRIPT PORT DATABASE=REMOTE[,REMOTE...] ..."""
import json
import re
import socket
import socketserver
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def ask(remote, database, table, columns, where=()):
    """Returns the rows of a table, or None if the server does not answer."""
    query = [database, {"op": "select", "table": table, "where": list(where), "columns": columns}]
    try:
        out = subprocess.run(["ovsdb-client", "--timeout=3", "query", remote, json.dumps(query)],
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=5)
        return json.loads(out.stdout)[0]["rows"] if out.returncode == 0 else None
    except (subprocess.TimeoutExpired, ValueError, KeyError, IndexError):
        return None


def pairs(value):
    """Returns a map of OVSDB: ["map", [[key, value], ...]]."""
    return value[1] if isinstance(value, list) and value[:1] == ["map"] else []


class Page:
    """Text of samples, those of one metric together."""

    def __init__(self):
        self.samples = {}

    def add(self, name, value, **labels):
        text = ",".join('%s="%s"' % (key, re.sub(r'(["\\])', r"\\\1", str(of)).replace("\n", " ")) for key, of in labels.items())
        self.samples.setdefault(name, []).append("%s{%s} %s" % (name, text, int(value)))

    def text(self):
        lines = []
        for name, samples in self.samples.items():
            lines.append("# TYPE %s %s" % (name, "counter" if name.endswith("_total") else "gauge"))
            lines += samples
        return "\n".join(lines) + "\n"


def states(database, remotes):
    """Returns the rows of _Server of all members, asked at the same time: one that hangs takes seconds."""
    def state(remote):
        return ask(remote, "_Server", "Database", ["connected", "leader", "index"], [["name", "==", database]])
    with ThreadPoolExecutor(len(remotes)) as pool:
        return list(pool.map(state, remotes))


def member(page, database, remote, rows):
    name = "local" if remote.startswith("unix:") else re.sub(r"^\w+:", "", remote).split(".")[0]
    labels = {"database": database, "member": name}
    page.add("ovsdb_up", bool(rows), **labels)
    for row in rows or []:
        page.add("ovsdb_connected", row["connected"], **labels)
        page.add("ovsdb_leader", row["leader"], **labels)
        if isinstance(row["index"], int):  # there is none without a cluster
            page.add("ovsdb_index", row["index"], **labels)


def interfaces(page, remote):
    for row in ask(remote, "Open_vSwitch", "Interface", ["name", "type", "error", "statistics"]) or []:
        labels = {"interface": row["name"], "type": row["type"] or "system"}
        page.add("ovs_interface_error", isinstance(row["error"], str), **labels)
        for key, value in pairs(row["statistics"]):
            if re.match(r"[rt]x_(bytes|packets|errors|dropped)$", key):
                page.add("ovs_interface_%s_total" % key, value, **labels)


def chassis(page, database, remotes):
    """Asks the members that just answered, one after the other: the first has all chassis."""
    for remote in remotes:
        rows = ask(remote, database, "Chassis", ["name"])
        if rows is not None:
            return page.add("ovn_chassis", len(rows))


def collect(databases):
    page = Page()
    with ThreadPoolExecutor(len(databases)) as pool:
        found = list(pool.map(lambda entry: states(*entry), databases))
    for (database, remotes), rows in zip(databases, found):
        for remote, of in zip(remotes, rows):
            member(page, database, remote, of)
        if database == "Open_vSwitch":
            interfaces(page, remotes[0])
        if database == "OVN_Southbound":
            chassis(page, database, [remote for remote, of in zip(remotes, rows) if of])
    return page.text()


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        body = collect(DATABASES).encode() if self.path == "/metrics" else b""
        self.send_response(200)
        self.send_header("Content-Type", "text/plain; version=0.0.4")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


class Server(ThreadingHTTPServer):
    """Listens on IPv4 and IPv6, whichever the pod has."""
    address_family = socket.AF_INET6 if socket.has_dualstack_ipv6() else socket.AF_INET

    def server_bind(self):
        if self.address_family == socket.AF_INET6:
            self.socket.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        socketserver.TCPServer.server_bind(self)  # that of HTTPServer asks DNS for a name


DATABASES = [(name, remotes.split(",")) for name, remotes in (word.split("=", 1) for word in sys.argv[2:])]
Server(("", int(sys.argv[1])), Handler).serve_forever()
