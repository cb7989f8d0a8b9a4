# A disk of some 13 MB that boots a virtual machine to what tests look at: Debian's kernel,
# and busybox in an initial file system. All of it is made by programs that need no
# block device.
export SOURCE_DATE_EPOCH=1700000000 # the same files give the same disk
mkdir /tmp/guest
cd /tmp/guest

kernel=$(apt-cache depends linux-image-cloud-amd64 | sed -n 's/.*Depends: //p')
apt-get --quiet --option=APT::Sandbox::User=root download "$kernel"
dpkg-deb -x ./*.deb kernel
modules=$(echo kernel/usr/lib/modules/*/kernel)
cp kernel/boot/vmlinuz-* vmlinuz

mkdir -p initrd/bin initrd/dev initrd/etc/acpi/PWRF initrd/lib/modules initrd/proc initrd/sys initrd/tmp initrd/www
cp /bin/busybox initrd/bin/
for module in net/core/failover drivers/net/net_failover drivers/net/virtio_net \
	drivers/block/virtio_blk drivers/char/hw_random/virtio-rng drivers/acpi/button drivers/input/evdev; do
	xz -dc "$modules/$module.ko.xz" >"initrd/lib/modules/${module##*/}.ko"
done
install -m 0755 /usr/share/guest/init initrd/
install -m 0755 /usr/share/guest/lease initrd/etc/
printf '#!/bin/busybox sh\npoweroff -f\n' >initrd/etc/acpi/PWRF/00000080
chmod 0755 initrd/etc/acpi/PWRF/00000080
find initrd -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +
(cd initrd && find . | LC_ALL=C sort | busybox cpio -o -H newc -R 0:0 2>/dev/null | gzip -n -1) >initrd.gz

truncate --size=28M system
mkfs.vfat --invariant -F 16 -n GUEST system
touch --date="@$SOURCE_DATE_EPOCH" vmlinuz initrd.gz
mcopy -m -i system vmlinuz initrd.gz /usr/share/guest/syslinux.cfg ::
syslinux --install system

truncate --size=29M disk
printf 'label: dos\nlabel-id: 0x6b6f6c6c\nstart=2048, type=6, bootable\n' | sfdisk --quiet disk
dd if=/usr/lib/syslinux/mbr/mbr.bin of=disk bs=440 count=1 conv=notrunc status=none
dd if=system of=disk bs=1M seek=1 conv=notrunc status=none
qemu-img convert -c -O qcow2 disk /guest.qcow2
cd /
rm -r /tmp/guest
