# Takes away the MTU of ports for metadata where it is empty. Agents then leave the MTU as it is.

nb() { ovn-nbctl --timeout=60 --db="$NB" "$@"; }

ports=$(nb --bare --columns=_uuid find Logical_Switch_Port type=localport 'external_ids:"neutron:mtu"=""')
for port in $ports; do
  echo "Port $port has an empty MTU."
  set -- "$@" -- remove Logical_Switch_Port "$port" external_ids '"neutron:mtu"'
done
if [ $# -gt 0 ]; then
  nb "$@"
fi
