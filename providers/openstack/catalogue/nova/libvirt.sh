# Starts libvirtd. Nodes that were copied from one another, or run on one machine, can have
# the same number in their firmware. libvirt would take them for one host, and move no server
# between them: so the number is made of the node's name.

uuid=$(printf 'kolla:%s' "$NODE" | md5sum | sed -E 's/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*/\1-\2-5\3-8\4-\5/')
cat /etc/libvirt/libvirtd.conf > /run/libvirt/kolla.conf
echo "host_uuid = \"$uuid\"" >> /run/libvirt/kolla.conf

# How servers log in to Ceph. libvirtd reads these files when it starts.
if [ -n "$SECRET" ]; then
  umask 077
  secrets=/run/libvirt/kolla-secrets
  mkdir -p $secrets /etc/libvirt/secrets
  printf "<secret ephemeral='no' private='yes'><uuid>%s</uuid><usage type='ceph'><name>client.cinder</name></usage></secret>\n" "$SECRET" > "/etc/libvirt/secrets/$SECRET.xml"
  sed -n 's/^[[:space:]]*key[[:space:]]*=[[:space:]]*//p' /etc/ceph/ceph.client.cinder.keyring | tr -d '\n' > "/etc/libvirt/secrets/$SECRET.base64"
fi

# Processes in the group of a pod end with it, and servers are libvirtd's children.
for group in /sys/fs/cgroup/*/cgroup.procs /sys/fs/cgroup/cgroup.procs; do
  [ -w "$group" ] || continue
  own=${group%/*}/kolla-libvirt
  mkdir -p "$own"
  echo $$ > "$own/cgroup.procs" || true
done

exec libvirtd --config /run/libvirt/kolla.conf
