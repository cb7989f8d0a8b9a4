# What scripts for all cells have in common. Cells beside the first one are sections of a file,
# with their connections.

# Prints the names of these cells.
more_cells() { sed -n 's/^\[\(.*\)\]$/\1/p' "$root/etc/nova/cells.conf" 2> /dev/null; }

# in_cell NAME ARGUMENTS runs nova-manage in a cell. Connections come from a file, and never
# from an argument. Those of cell1 are in nova.conf.
in_cell() {
  file=/etc/nova/$1.conf
  if [ "$1" = cell1 ]; then
    shift
    nova-manage "$@"
    return
  elif [ "$1" != cell0 ]; then
    file=/var/lib/nova/$1.conf
    (umask 077; awk -v cell="[$1]" '
      /^\[/ { here = $0 == cell }
      here && /^transport_url/ { print "[DEFAULT]"; print }
      here && /^connection/ { print "[database]"; print }' "$root/etc/nova/cells.conf" > "$root$file")
  fi
  shift
  nova-manage --config-file /etc/nova/nova.conf --config-file "$root$file" "$@"
}
