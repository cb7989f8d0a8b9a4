# Brings up the schemas of the API, of cell0 and of cell1, and makes the two cells known.
# All of it may run again, and twice at once.

zero=00000000-0000-0000-0000-000000000000

nova-manage api_db sync

# A cell is known by its connections. A template stands for those in the configuration of
# whoever reads it, so that no password of cell1 is stored, or ever has to be replaced.
same='{scheme}://{username}:{password}@{hostname}:{port}/{path}'

# The connection of cell0 comes from a file, and never from an argument.
nova-manage cell_v2 map_cell0 --database_connection "$same"
nova-manage --config-file /etc/nova/nova.conf --config-file /etc/nova/cell0.conf \
  cell_v2 update_cell --cell_uuid "$zero" --transport-url none:///

nova-manage --config-file /etc/nova/nova.conf --config-file /etc/nova/cell0.conf db sync --local_cell
nova-manage db sync --local_cell

if ! nova-manage cell_v2 list_cells | grep -q '| *cell1 *|'; then
  # 2: another run has just made it.
  nova-manage cell_v2 create_cell --name cell1 --transport-url "$same" --database_connection "$same" || [ $? -eq 2 ]
fi
