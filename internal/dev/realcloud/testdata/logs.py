# Logs with oslo.log as the services do, by the environment of the container that it runs in.
import sys

from oslo_config import cfg
from oslo_log import log

log.register_options(cfg.CONF)
cfg.CONF([], project="kolla-test", default_config_files=[])
cfg.CONF.set_override("use_stderr", True)
log.setup(cfg.CONF, "kolla-test")
logger = log.getLogger("kolla.test")
if sys.argv[1] == "trace":
    try:
        {}["not there"]
    except KeyError:
        logger.exception("it broke in %s", sys.argv[2])
else:
    for n in range(int(sys.argv[1])):
        logger.info(sys.argv[2], n)
