# Prints the servers that have a port on the node, by the numbers that Nova gave them: Open
# vSwitch knows no names.
ports=$(ovs-vsctl --timeout=8 --format=list --columns=external_ids list Interface)
printf '%s\n' "$ports" | sed -nE 's/.*vm-uuid="?([0-9a-f-]{36}).*/\1/p' | sort -u
