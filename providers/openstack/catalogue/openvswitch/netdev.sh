# Runs a command, and sets interfaces of servers up that the userspace datapath has taken
# down. When it adds an interface, it reads the flags, and writes them with one more. If
# libvirt sets the interface up in between, that is lost, and the server has no network.
while sleep 3; do
  for name in $(ovs-vsctl --timeout=8 --bare --columns=name find Interface admin_state=down 'external_ids:vm-uuid!=""'); do
    bridge=$(ovs-vsctl --timeout=8 iface-to-br "$name") || continue
    if ovs-ofctl mod-port "$bridge" "$name" up; then echo "set $name up"; fi
  done
done &
exec "$@"
