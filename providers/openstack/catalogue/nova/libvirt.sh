# Starts libvirtd. $1 is the root directory, which tests have elsewhere.

# Nodes that were copied from one another have the same number in their firmware. libvirt
# would take them for one host, and move no server between them. So the number is made of
# the node's name.
number=$(printf 'kolla:%s' "$NODE" | md5sum | sed -E 's/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*/\1-\2-5\3-8\4-\5/')
address=$(cat "$1/run/libvirt/pki/address")
cp "$1/etc/libvirt/libvirtd.conf" "$1/run/libvirt/kolla.conf"
echo "host_uuid = \"$number\"
listen_addr = \"$address\"" >> "$1/run/libvirt/kolla.conf"
cp "$1/etc/kolla/qemu.conf" "$1/etc/libvirt/qemu.conf"
echo "migration_address = \"$address\"" >> "$1/etc/libvirt/qemu.conf"

# libvirtd looks for its certificates in /etc/pki. QEMU outlives this container, so its own stay
# on the node.
mkdir -p "$1/etc/pki/CA" "$1/etc/pki/libvirt/private" "$1/var/lib/nova/instances"
cp "$1/run/libvirt/pki/libvirt/cacert.pem" "$1/etc/pki/CA/"
cp "$1"/run/libvirt/pki/libvirt/*cert.pem "$1/etc/pki/libvirt/"
cp "$1"/run/libvirt/pki/libvirt/*key.pem "$1/etc/pki/libvirt/private/"
chgrp -R nova "$1/run/libvirt/pki/qemu"
chmod -R u=rwX,g=rX,o= "$1/run/libvirt/pki/qemu"
chmod 0711 "$1/run/libvirt/pki"

# As whom servers log in to Ceph. libvirtd reads these files when it starts.
if [ -n "$CEPH_SECRET" ]; then
  umask 077
  file=$1/etc/libvirt/secrets/$CEPH_SECRET
  sed -n 's/^[[:space:]]*key[[:space:]]*=[[:space:]]*//p' "$1/etc/ceph/ceph.client.cinder.keyring" | tr -d '\n' > "$file.base64"
  cat > "$file.xml" << XML
<secret ephemeral='no' private='yes'>
  <uuid>$CEPH_SECRET</uuid>
  <usage type='ceph'><name>client.cinder</name></usage>
</secret>
XML
  umask 022
fi

# Servers run as nova, which is in the group qemu. Where only the node's group kvm may use it,
# no server would start.
if [ -c "$1/dev/kvm" ] && [ "$(stat -c %a "$1/dev/kvm")" = 660 ]; then
  chgrp qemu "$1/dev/kvm"
fi

# Servers are children of libvirtd, and what is in a group of the pod ends with the pod.
if [ -e "$1/sys/fs/cgroup/cgroup.controllers" ]; then
  groups=$1/sys/fs/cgroup/cgroup.procs
else
  groups=$(echo "$1"/sys/fs/cgroup/*/cgroup.procs)
fi
for group in $groups; do
  if ! echo $$ > "$group"; then
    echo "libvirtd cannot leave the group of the pod, and servers would end with it: $group" >&2
    exit 1
  fi
done

# virtlogd writes the console logs of servers, and limits their size. It holds the other end of
# their pipes, so it runs until the node restarts.
pid=$1/run/libvirt/virtlogd.pid
if ! [ "$(cat "/proc/$(cat "$pid" 2> /dev/null)/comm" 2> /dev/null)" = virtlogd ]; then
  virtlogd --daemon --pid-file "$pid"
fi

# A server with volumes in Ceph opens more files than the 1024 that a container may start with.
# Servers inherit the limit.
ulimit -S -n 32768 2> /dev/null || ulimit -S -n "$(ulimit -H -n)"
exec libvirtd --listen --config "$1/run/libvirt/kolla.conf"
