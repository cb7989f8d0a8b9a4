# Maps the hypervisors of the nodes in KOLLA_NODES to their cell, as soon as they have
# reported. One that is down does not hold up the others: the scheduler looks for it every few
# minutes. $1 is the Python program retire.py.

missing() {
  known=$(nova-manage cell_v2 list_hosts | awk -F'|' 'NF > 3 { gsub(/ /, "", $4); print $4 }')
  for node in $KOLLA_NODES; do
    echo "$known" | grep -qxF "$node" || printf '%s ' "$node"
  done
}

listing=$(nova-manage cell_v2 list_cells)
cell=$(echo "$listing" | awk -F'|' -v cell="$CELL" '{ gsub(/ /, "") } $2 == cell { print $3 }')
if [ -z "$cell" ]; then
  echo "Nova does not know cell $CELL: name the service in \`cells\` of service nova." >&2
  exit 1
fi

tries=0
left=$KOLLA_NODES
while [ -n "$left" ] && [ $tries -lt 12 ]; do
  [ $tries -eq 0 ] || sleep 5
  tries=$((tries + 1))
  # It fails where the scheduler maps the same hypervisor at the same time.
  nova-manage cell_v2 discover_hosts --by-service --verbose --cell_uuid "$cell" || true
  left=$(missing)
done
[ -z "$left" ] || echo "Not found, as their nova-compute has not reported: $left"

exec python3 -c "$1" /etc/nova/nova.conf /etc/nova/nova.conf.d/secrets.conf
