# Unpacks files of images from standard input beside those that are there. $1 is their size in bytes.
cd /var/lib/glance
rm -rf .restore .restored
free=$(df -Pk . | awk 'NR == 2 { print $4 }')
need=$(($1 / 1024 + 1024))
if [ "$free" -lt "$need" ]; then
  echo "the volume has $((free / 1024)) MiB free, and the backup needs $((need / 1024)) MiB beside the present images; raise size of Glance" >&2
  exit 1
fi
mkdir .restore
# tar does not notice if files are missing at the end.
{ tee /dev/fd/3 | wc -c > .restored; } 3>&1 | tar -C .restore -x
if [ "$(cat .restored)" -ne "$1" ]; then
  echo "the copy was cut off" >&2
  exit 1
fi
rm .restored
