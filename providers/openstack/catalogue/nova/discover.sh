# Maps the hypervisors of the nodes in KOLLA_NODES to their cell, as soon as they have
# reported. One that is down does not hold up the others: the scheduler looks for it every few
# minutes. $1 is the Python program retire.py.

nova-manage cell_v2 list_hosts > /dev/null # without the database the job has failed

missing() {
  known=$(nova-manage cell_v2 list_hosts | awk -F'|' 'NF > 3 { gsub(/ /, "", $4); print $4 }')
  for node in $KOLLA_NODES; do
    echo "$known" | grep -qxF "$node" || printf '%s ' "$node"
  done
}

tries=0
left=$KOLLA_NODES
while [ -n "$left" ] && [ $tries -lt 12 ]; do
  [ $tries -eq 0 ] || sleep 5
  tries=$((tries + 1))
  # It fails where the scheduler maps the same hypervisor at the same time.
  nova-manage cell_v2 discover_hosts --by-service --verbose || true
  left=$(missing)
done
[ -z "$left" ] || echo "Not found, as their nova-compute has not reported: $left"

exec python3 -c "$1" /etc/nova/nova.conf /etc/nova/nova.conf.d/secrets.conf
