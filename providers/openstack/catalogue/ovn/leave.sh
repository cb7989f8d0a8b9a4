# Takes the node out of OVN's database. ovn-controller would put it back at once. So it
# forgets first who the node is.

db() { ovs-vsctl --timeout=10 "$@"; }
# id KEY prints a value that settings.sh has set.
id() {
  value=$(db --if-exists get Open_vSwitch . "external_ids:$1")
  printf '%s' "$value" | tr -d '"'
}
south() { ovn-sbctl --timeout=15 --no-leader-only --db="$remote" "$@"; }

node=$(id hostname)
remote=$(id ovn-remote)
if [ -z "$node" ] || [ -z "$remote" ]; then
  exit 0
fi
db remove Open_vSwitch . external_ids system-id
left=$node
# ovn-sbctl gives up at once when it cannot resolve the name, as on a busy node.
for _ in 1 2 3 4 5; do
  sleep 2
  south --if-exists chassis-del "$node" || continue
  south --if-exists destroy Chassis_Private "$node" || continue
  left=$(south --bare --columns=name find Chassis name="$node") || left=$node
  [ -n "$left" ] || break
done
if [ -n "$left" ]; then
  echo "OVN may still have the chassis $node." >&2
  exit 1
fi
for key in ovn-remote ovn-encap-type ovn-encap-ip ovn-bridge-datapath-type ovn-bridge-mappings ovn-chassis-mac-mappings ovn-cms-options ovn-match-northd-version ovn-remote-probe-interval hostname; do
  db remove Open_vSwitch . external_ids "$key"
done
