# Gives the node names for iSCSI and NVMe, unless it has some. All containers of an image would have the names
# in the image, and storage would take all nodes for one. $1 is the root directory, which tests have elsewhere.

# keep FILE CONTENT writes a file as a whole or not at all.
keep() {
  echo "$2" > "$1.new"
  mv "$1.new" "$1"
}

id=$(cat "$1/proc/sys/kernel/random/uuid")
if ! [ -s "$1/etc/iscsi/initiatorname.iscsi" ]; then
  keep "$1/etc/iscsi/initiatorname.iscsi" "InitiatorName=iqn.2016-04.com.open-iscsi:$id"
fi
if ! [ -s "$1/etc/nvme/hostnqn" ]; then
  keep "$1/etc/nvme/hostid" "$id"
  keep "$1/etc/nvme/hostnqn" "nqn.2014-08.org.nvmexpress:uuid:$id"
fi
