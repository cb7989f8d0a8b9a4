"""Runs the OpenStack client as often as it is asked to, and loads it only once.

Reads requests from standard input, a line of JSON each: {"argv": [...], "env": {...}}. Each is
run by a process of its own, and answered by a line: {"code": 0, "out": "..."}.
"""

import json
import os
import sys
import tempfile

from openstackclient import shell

shell.OpenStackShell()  # finds the plug-ins


def run(argv, env, out):
    """In the child: as the command openstack does."""
    os.environ.update(env)
    os.dup2(out, 1)
    os.dup2(out, 2)
    code = 1
    try:
        code = shell.main(argv)
    except SystemExit as e:
        code = e.code if isinstance(e.code, int) else 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code or 0)


for line in sys.stdin:
    request = json.loads(line)
    with tempfile.TemporaryFile() as out:
        child = os.fork()
        if child == 0:
            run(request["argv"], request["env"], out.fileno())
        _, status = os.waitpid(child, 0)
        out.seek(0)
        said = out.read().decode(errors="replace")
    print(json.dumps({"code": os.waitstatus_to_exitcode(status), "out": said}), flush=True)
