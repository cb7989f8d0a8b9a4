# Moves data to where this release keeps them, in cell0 and in cell1.

nova-manage --config-file /etc/nova/nova.conf --config-file /etc/nova/cell0.conf db online_data_migrations
nova-manage db online_data_migrations
