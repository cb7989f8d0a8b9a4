#!/bin/sh
# HAProxy asks DNS for whole names, so that it needs the domain of the cluster.
set -eu
KOLLA_CLUSTER_DOMAIN=$(sed -n 's/^search .* svc\.\([^ ]*\).*/\1/p' /etc/resolv.conf)
export KOLLA_CLUSTER_DOMAIN="${KOLLA_CLUSTER_DOMAIN:-cluster.local}"
exec haproxy -db -f /etc/haproxy/haproxy.cfg
