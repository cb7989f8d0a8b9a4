"""Makes a cell known to Nova by its connections.

python3 map.py FILE SECTION COMMAND...

FILE has `connection` of the cell in SECTION, and `transport_url` if the cell has a queue.
COMMAND is one of `nova-manage cell_v2`. It runs in this process, so that no argument of a
process has a password, and with the configuration of the first cell: the template that this
one is known by stands for the connections of whoever reads it.
"""

import configparser
import sys

file, section, *command = sys.argv[1:]
config = configparser.RawConfigParser(strict=False)
config.read(file)
cell = config[section]
sys.argv = [
    "nova-manage", "cell_v2", *command,
    "--transport-url", cell.get("transport_url", "none:///"), "--database_connection", cell["connection"],
]

from nova.cmd import manage  # noqa: E402, it reads the arguments

sys.exit(manage.main())
