# Runs an exporter for the member of a service whose number is that of this pod. FLAG takes its address.
set -f
number=${POD##*-}
for member in $MEMBERS; do
  [ "$number" -gt 0 ] || break
  number=$((number - 1))
done
exec "$@" "$FLAG=$member"
