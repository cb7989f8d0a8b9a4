#!/bin/sh
# The files of a process that was killed say nothing about this one. keepalived itself removes a VIP
# that such a process left on the node.
set -eu
rm -rf /run/keepalived*
mkdir /run/keepalived
exec keepalived --dont-fork --log-console --log-detail --vrrp --config-id="$KOLLA_NODE_NAME" \
  --pid=/run/keepalived/keepalived.pid --vrrp_pid=/run/keepalived/vrrp.pid --use-file=/etc/keepalived/keepalived.conf
