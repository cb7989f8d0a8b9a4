#!/bin/sh
# ceph.sh ADDRESS: a Ceph of one monitor, one manager and one OSD in a sparse file, with the
# pools and users of the services of OpenStack. All of it is in the directory ceph, where
# the file "ready" appears. It ends with this script.
set -eu
address=$1
dir=$PWD/ceph
mkdir "$dir" "$dir/mon" "$dir/mgr" "$dir/osd"
daemons=
trap 'test -z "$daemons" || kill $daemons; wait' EXIT
trap 'exit 0' TERM
cd / # Debian's OSD looks for its plugins in lib/

cat >"$dir/ceph.conf" <<EOF
[global]
fsid = 5d9c1f3e-4c0a-4b7f-9b5e-2f1d6a7c8e90
mon_host = $address
public_addr = $address
keyring = $dir/client.admin.keyring
mon_data = $dir/mon
mgr_data = $dir/mgr
osd_data = $dir/osd
run_dir = $dir
log_file =
log_to_stderr = true
auth_allow_insecure_global_id_reclaim = false
osd_pool_default_size = 1
osd_pool_default_min_size = 1
osd_pool_default_pg_num = 8
osd_crush_chooseleaf_type = 0
mon_allow_pool_size_one = true
mon_data_avail_crit = 1
mon_data_avail_warn = 1
mgr_initial_modules =
bluestore_block_size = 17179869184
bluestore_cache_autotune = false
bluestore_cache_size = 33554432
[mon]
keyring = $dir/mon/keyring
[mgr]
keyring = $dir/mgr/keyring
[osd]
keyring = $dir/osd/keyring
EOF
export CEPH_CONF="$dir/ceph.conf"

ceph-authtool --create-keyring "$dir/first.keyring" --gen-key -n mon. --cap mon 'allow *'
ceph-authtool --create-keyring "$dir/client.admin.keyring" --gen-key -n client.admin \
	--cap mon 'allow *' --cap osd 'allow *' --cap mgr 'allow *'
ceph-authtool "$dir/first.keyring" --import-keyring "$dir/client.admin.keyring"
monmaptool --create --addv a "[v2:$address:3300,v1:$address:6789]" --fsid 5d9c1f3e-4c0a-4b7f-9b5e-2f1d6a7c8e90 "$dir/monmap"
ceph-mon --mkfs -i a --monmap "$dir/monmap" --keyring "$dir/first.keyring"
ceph-mon -f -i a &
daemons="$daemons $!"
ceph --connect-timeout 60 auth get-or-create mgr.a mon 'allow profile mgr' osd 'allow *' >"$dir/mgr/keyring"
ceph-mgr -f -i a &
daemons="$daemons $!"
uuid=$(cat /proc/sys/kernel/random/uuid)
ceph osd new "$uuid" 0
ceph auth get-or-create osd.0 mon 'allow profile osd' mgr 'allow profile osd' osd 'allow *' >"$dir/osd/keyring"
ceph-osd --mkfs -i 0 --osd-uuid "$uuid"
ceph-osd -f -i 0 &
daemons="$daemons $!"

for pool in images volumes backups; do
	ceph osd pool create "$pool"
	rbd pool init "$pool"
done
user() {
	ceph auth get-or-create "client.$1" mon 'profile rbd' mgr 'profile rbd' osd "$2" >"$dir/$1.keyring"
}
user glance 'profile rbd pool=images'
user cinder 'profile rbd pool=volumes, profile rbd-read-only pool=images'
user cinder-backup 'profile rbd pool=backups'
touch "$dir/ready"
wait
