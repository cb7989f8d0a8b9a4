# Databases and identities are made where they are used.
rm -rf /etc/openvswitch/* /var/lib/openvswitch/* /etc/default/openvswitch-switch /etc/default/ovn-central /etc/default/ovn-host
install -d -m 0755 /var/lib/openvswitch /var/lib/ovn
