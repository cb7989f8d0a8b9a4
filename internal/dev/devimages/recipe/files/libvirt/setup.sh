# No network of libvirt's own: Neutron makes the networks.
find /etc/libvirt/qemu/networks -type f -delete
find /etc/libvirt/qemu/networks -type l -delete
usermod --append --groups qemu nova
