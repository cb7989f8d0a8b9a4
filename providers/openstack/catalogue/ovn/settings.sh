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

# bridge NAME INTERFACE makes a bridge, and gives it the interface, if there is one. It takes out
# an interface that it gave before: with two of one network in a bridge, packets go in circles.
bridge() {
  db --may-exist add-br "$1" -- set bridge "$1" datapath_type="$DATAPATH" fail_mode=standalone
  ip link set "$1" up
  for port in $(db --bare --columns=name find Port "external-ids:kolla=\"$1\""); do
    [ "$port" = "$2" ] || db del-port "$1" "$port"
  done
  if [ -n "$2" ]; then
    if ip -o address show dev "$2" | grep -qwF "$NODE_IP"; then
      echo "Interface $2 has the node's own address, so that the node would be cut off with it in bridge $1." >&2
      exit 1
    fi
    db --may-exist add-port "$1" "$2" -- set Port "$2" "external-ids:kolla=\"$1\""
    ip link set "$2" up
  fi
}

# addresses PLACE BRIDGE prints lines of DEVICE ADDRESS with one address: that of the interface
# PLACE, or the first in the network PLACE. An address that has moved to the bridge is preferred,
# and its interface may have it as well.
addresses() {
  case $1 in
  */*) ip -o address show to "$1" ;;
  *)
    ip -o address show dev "$2" scope global 2> /dev/null || true
    ip -o address show dev "$1" scope global
    ;;
  esac | awk -v bridge="$2" '
    NR == 1 || $2 == bridge { found = $4 }
    { device[NR] = $2; address[NR] = $4 }
    END { for (n = 1; n <= NR; n++) if (address[n] == found) print device[n], address[n] }'
}

# move BRIDGE puts interfaces in the bridge that addresses() has printed, and their addresses on
# it. First it adds an address: none is lost when this is killed in between.
move() {
  while read -r device address; do
    if [ "$device" != "$1" ]; then
      bridge "$1" "$device"
      ip address replace "$address" dev "$1"
      ip address delete "$address" dev "$device"
    fi
  done
}

# macs prints a MAC address for each physical network in MAPPINGS. It depends on the names of node
# and network, so that it is always the same. The first byte marks it as locally administered.
macs() {
  printf '%s\n' "$MAPPINGS" | tr , '\n' | while IFS=: read -r network _; do
    [ -n "$network" ] || continue
    bytes=$(printf '%s %s' "$NODE" "$network" | sha256sum | sed 's/^\(..\)\(..\)\(..\)\(..\)\(..\).*/\1:\2:\3:\4:\5/')
    echo "$network:52:$bytes"
  done | paste -s -d , -
}

encap=$NODE_IP
if [ -n "$TUNNEL" ]; then
  found=$(addresses "$TUNNEL" br-tunnel)
  if [ -z "$found" ]; then
    echo "The node has no address in $TUNNEL." >&2
    exit 1
  fi
  encap=$(printf '%s\n' "$found" | sed -n '1{s/.* //;s,/.*,,;p;}')
  # In user space a packet of a tunnel leaves only by a bridge that has the address itself.
  if [ "$DATAPATH" = netdev ]; then
    printf '%s\n' "$found" | move br-tunnel
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
# An apply upgrades northd first. Until this pod is new as well, it changes no flow: it may not
# understand what a newer northd says.
set_id ovn-match-northd-version true
# In milliseconds: how long the database may be silent.
set_id ovn-remote-probe-interval 60000
set_id ovn-bridge-datapath-type "$DATAPATH"
set_id ovn-bridge-mappings "$MAPPINGS"
# A router sends packets of its VLANs from each node. With the router's own address as the sender on
# all of them, switches would find it at another port all the time.
set_id ovn-chassis-mac-mappings "$(macs)"
set_id ovn-cms-options "$GATEWAY"

for pair in $BRIDGES; do
  name=${pair%%:*}
  case $pair in
  *:*/*)
    found=$(addresses "${pair#*:}" "$name")
    if [ -z "$found" ]; then
      echo "The node has no address in ${pair#*:}, for bridge $name." >&2
      exit 1
    fi
    printf '%s\n' "$found" | move "$name"
    ;;
  *:*) bridge "$name" "${pair#*:}" ;;
  *) bridge "$name" "" ;;
  esac
done
