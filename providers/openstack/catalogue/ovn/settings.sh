# Tells ovn-controller, in the database of Open vSwitch, who it is and what it works with, and
# makes the bridges to physical networks.

db() { ovs-vsctl --timeout=60 "$@"; }

# bridge NAME [INTERFACE] makes a bridge, and gives it the interface.
bridge() {
  db --may-exist add-br "$1" -- set bridge "$1" datapath_type="$DATAPATH" fail_mode=standalone
  [[ -z ${2-} ]] || db --may-exist add-port "$1" "$2"
  ip link set "$1" up
  [[ -z ${2-} ]] || ip link set "$2" up
}

encap=$NODE_IP
if [[ -n $TUNNEL_NETWORK ]]; then
  read -r device address < <(ip -o -4 address show to "$TUNNEL_NETWORK" | awk 'NR == 1 { print $2, $4 }') || true
  if [[ -z ${address-} ]]; then
    echo "The node has no address in $TUNNEL_NETWORK." >&2
    exit 1
  fi
  encap=${address%/*}
  # In user space a packet of a tunnel leaves only by a bridge that has the address itself.
  if [[ $DATAPATH == netdev && $device != br-tunnel ]]; then
    bridge br-tunnel "$device"
    ip address flush dev "$device" scope global
    ip address replace "$address" dev br-tunnel
  fi
fi

# set KEY VALUE, or no value: for what is not said any more.
set_id() {
  if [[ -n $2 ]]; then db set Open_vSwitch . "external-ids:$1=\"$2\""; else db remove Open_vSwitch . external-ids "$1"; fi
}
set_id system-id "$NODE"
set_id hostname "$NODE"
set_id ovn-remote "$REMOTE"
set_id ovn-encap-type geneve
set_id ovn-encap-ip "$encap"
set_id ovn-bridge-datapath-type "$DATAPATH"
set_id ovn-bridge-mappings "$MAPPINGS"
set_id ovn-cms-options "$GATEWAY"

for pair in $BRIDGES; do
  bridge "${pair%%:*}" "$([[ $pair == *:* ]] && echo "${pair#*:}")"
done
