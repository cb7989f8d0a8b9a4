# Takes from the node what outlives the pod: servers, and what libvirt and Nova have made around
# them. Files of servers stay, so that Nova can start them again. $1 is the root directory,
# which tests have elsewhere.

for id in $(virsh list --uuid); do
  virsh destroy "$id" || true
done
running=$(virsh list --uuid)
if [ -n "$running" ]; then
  echo "Servers still run:" $running >&2
  exit 1
fi

# From 2026.1 on Nova makes the network devices, and libvirt leaves them alone.
for id in $(virsh list --all --uuid); do
  virsh domiflist "$id" | awk '$1 ~ /^tap/ { print $1 }' | while read -r tap; do
    ovs-vsctl --timeout=30 --if-exists del-port "$tap" || true # by now there may be no Open vSwitch
    if [ -e "$1/sys/class/net/$tap" ]; then
      ip link delete "$tap"
    fi
  done
done

# A server that is suspended has its memory in a file, which goes with its domain: it keeps both.
for id in $(virsh list --all --uuid); do
  virsh undefine "$id" --keep-nvram --snapshots-metadata || true
done

awk -v dir="$1/var/lib/nova/mnt/" 'index($2, dir) == 1 { print $2 }' "$1/proc/self/mounts" | tac | while read -r mounted; do
  umount "$(printf '%b' "$mounted")"
done

file=$1/run/libvirt/virtlogd.pid
pid=$(cat "$file" 2> /dev/null) || pid=
if [ -n "$pid" ] && [ "$(cat "/proc/$pid/comm" 2> /dev/null)" = virtlogd ]; then
  kill "$pid"
  for _ in 1 2 3 4 5 6 7 8 9 10; do
    [ -e "/proc/$pid/comm" ] || break
    sleep 1
  done
  if [ -e "/proc/$pid/comm" ]; then
    echo "virtlogd does not end." >&2
    exit 1
  fi
fi
rm -f "$file"

# In version 1 each controller has its own tree.
for machines in "$1"/sys/fs/cgroup/machine "$1"/sys/fs/cgroup/*/machine; do
  if [ -d "$machines" ]; then
    find "$machines" -depth -type d -exec rmdir {} +
  fi
done
