# Tells ovn-controller, in the database of Open vSwitch, who it is and what it works with, and
# makes the bridges to physical networks.

db() { ovs-vsctl --timeout=60 "$@"; }

# set_id KEY VALUE, or an empty value: what is not said any more.
set_id() {
  if [ -n "$2" ]; then
    db set Open_vSwitch . "external-ids:$1=\"$2\""
  else
    db remove Open_vSwitch . external-ids "$1"
  fi
}

# bridge NAME INTERFACE makes a bridge, and gives it the interface, if there is one.
bridge() {
  db --may-exist add-br "$1" -- set bridge "$1" datapath_type="$DATAPATH" fail_mode=standalone
  ip link set "$1" up
  if [ -n "$2" ]; then
    if ip -o address show dev "$2" | grep -qwF "$NODE_IP"; then
      echo "Interface $2 has the node's own address, so that the node would be cut off with it in bridge $1." >&2
      exit 1
    fi
    db --may-exist add-port "$1" "$2"
    ip link set "$2" up
  fi
}

encap=$NODE_IP
if [ -n "$TUNNEL_NETWORK" ]; then
  found=$(ip -o -4 address show to "$TUNNEL_NETWORK" | awk 'NR == 1 || $2 == "br-tunnel" { found = $2 " " $4 } END { print found }')
  device=${found% *}
  address=${found#* }
  if [ -z "$found" ]; then
    echo "The node has no address in $TUNNEL_NETWORK." >&2
    exit 1
  fi
  encap=${address%/*}
  # In user space a packet of a tunnel leaves only by a bridge that has the address itself.
  if [ "$DATAPATH" = netdev ] && [ "$device" != br-tunnel ]; then
    bridge br-tunnel "$device"
    ip address replace "$address" dev br-tunnel
    ip address flush dev "$device" scope global
  fi
elif [ "$DATAPATH" = netdev ]; then
  echo "The userspace datapath needs a network of its own for tunnels: tunnel_network." >&2
  exit 1
fi

set_id system-id "$NODE"
set_id hostname "$NODE"
set_id ovn-remote "$REMOTE"
set_id ovn-encap-type geneve
set_id ovn-encap-ip "$encap"
set_id ovn-bridge-datapath-type "$DATAPATH"
set_id ovn-bridge-mappings "$MAPPINGS"
set_id ovn-cms-options "$GATEWAY"

for pair in $BRIDGES; do
  case $pair in
  *:*) bridge "${pair%%:*}" "${pair#*:}" ;;
  *) bridge "$pair" "" ;;
  esac
done
