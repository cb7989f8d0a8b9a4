# Runs a command, and mends interfaces of servers that the userspace datapath has lost.
#
# When the datapath adds an interface, it reads the flags, and writes them with one more. If
# libvirt sets the interface up in between, that is lost, and the server has no network.
#
# A soft reboot makes the device of a server anew under the same name, and the datapath goes on
# reading the old device. The new one lacks the promiscuous mode (0x100) that the datapath sets.
# Once the port is gone, vswitchd opens the device again, with the same numbers.
while sleep 3; do
  ovs-vsctl --timeout=8 --format=csv --no-headings --data=bare --columns=name,admin_state find Interface 'external_ids:vm-uuid!=""' |
    while IFS=, read -r name state; do
      if [ "$state" = down ]; then
        bridge=$(ovs-vsctl --timeout=8 iface-to-br "$name") || continue
        if ovs-ofctl mod-port "$bridge" "$name" up; then echo "set $name up"; fi
      fi
      flags=$(cat "/sys/class/net/$name/flags" 2>/dev/null) || continue
      if [ $((flags & 0x100)) -eq 0 ] && ovs-appctl -T 8 dpctl/del-if netdev@ovs-netdev "$name" 2>/dev/null; then
        echo "opened $name again"
      fi
    done
done &
exec "$@"
