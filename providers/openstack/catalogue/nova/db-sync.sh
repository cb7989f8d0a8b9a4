# Brings up the schemas of the API, of cell0 and of cell1, and makes all cells known. All of it
# may run again, and twice at once. $1 is cells.sh, $2 the root directory, which tests have
# elsewhere, $3 the Python program map.py.

root=$2
program=$3
eval "$1"

zero=00000000-0000-0000-0000-000000000000

# map FILE SECTION COMMAND... makes a cell known by the connections in a file.
map() {
  file=$root/etc/nova/$1
  shift
  python3 -c "$program" "$file" "$@"
}

nova-manage api_db sync

# A cell is known by its connections. A template stands for those in the configuration of
# whoever reads it, so that no password of cell1 is stored, or ever has to be replaced.
same='{scheme}://{username}:{password}@{hostname}:{port}/{path}'

nova-manage cell_v2 map_cell0 --database_connection "$same"
map cell0.conf database update_cell --cell_uuid "$zero" --name cell0

in_cell cell0 db sync --local_cell
nova-manage db sync --local_cell

# The cells that Nova knows: name and number.
listing=$(nova-manage cell_v2 list_cells)
known=$(echo "$listing" | awk -F'|' '{ gsub(/ /, "") } $3 ~ /^[0-9a-f]+-/ { print $2, $3 }')

# cell1 may have got another name. Then a cell beside the declared ones has its database: the list shows
# connections as they are used, without passwords.
first=$(echo "$known" | sed -n 's/^cell1 //p')
own=$(awk '/^\[/ { here = $0 == "[database]" }
  here && sub(/^connection *= */, "") { sub(/:[^:@]*@/, ":****@"); print }' "$root/etc/nova/nova.conf.d/secrets.conf" 2> /dev/null) || true
if [ -z "$first" ] && [ -n "$own" ]; then
  first=$(echo "$listing" | awk -F'|' -v zero="$zero" -v own="$own" -v declared=" $(echo $(more_cells)) " '
    { gsub(/ /, "") }
    $3 != zero && $5 == own && !index(declared, " " $2 " ") { print $3; exit }')
fi
if [ -n "$first" ]; then
  nova-manage cell_v2 update_cell --cell_uuid "$first" --name cell1 --transport-url "$same" --database_connection "$same"
else
  # 2: another run has just made it.
  nova-manage cell_v2 create_cell --name cell1 --transport-url "$same" --database_connection "$same" || [ $? -eq 2 ]
fi

# The service of each further cell has brought up its schema.
for cell in $(more_cells); do
  number=$(echo "$known" | sed -n "s/^$cell //p")
  if [ -n "$number" ]; then
    map cells.conf "$cell" update_cell --cell_uuid "$number"
  else
    map cells.conf "$cell" create_cell --name "$cell" || [ $? -eq 2 ]
  fi
done
