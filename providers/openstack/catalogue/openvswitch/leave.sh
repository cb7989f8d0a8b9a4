# Deletes the bridges of the node, whoever made them in this Open vSwitch: what is left would
# stand without anybody to move packets. An interface gets the addresses back that its bridge
# has had in its place.

db() { ovs-vsctl --timeout=60 "$@"; }

# physical BRIDGE prints its first port that is an interface of the node.
physical() {
  for port in $(db list-ports "$1"); do
    kind=$(db --if-exists get Interface "$port" type | tr -d '"[]')
    if [ -z "$kind" ] || [ "$kind" = system ]; then
      echo "$port"
      return
    fi
  done
}

bridges=$(db list-br)
for bridge in $bridges; do
  addresses=$(ip -o address show dev "$bridge" scope global 2> /dev/null | awk '{ print $4 }')
  # First the addresses: they are not lost when this is killed in between.
  if [ -n "$addresses" ]; then
    interface=$(physical "$bridge")
    if [ -n "$interface" ]; then
      ip link set "$interface" up
      for address in $addresses; do
        ip address replace "$address" dev "$interface"
      done
    fi
  fi
  db --if-exists del-br "$bridge"
done

# The kernel's datapath goes with the last bridge. One that an older process left does not.
for datapath in $(ovs-dpctl dump-dps 2> /dev/null); do
  ovs-dpctl del-dp "$datapath"
done
