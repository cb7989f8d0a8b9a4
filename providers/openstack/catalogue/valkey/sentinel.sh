# Runs a sentinel. It keeps what it knows in a file on its volume, and changes that itself. Without
# the file, it asks the others who the primary is: a first opinion of its own would be a wrong one
# whenever the first server is not the primary any more.

trap 'exit 143' TERM
template=$TEMPLATE
known=$DATA/sentinel.conf
own=
for sentinel in $SENTINELS; do
  case $sentinel in "$(uname -n)".*) own=$sentinel ;; esac
done

if [ ! -s "$known" ]; then
  primary=
  for sentinel in $SENTINELS; do
    [ -z "$primary" ] || break
    primary=$(timeout 3 valkey-cli -h "$sentinel" -p "$SENTINEL_PORT" --raw sentinel get-master-addr-by-name "$PRIMARY" 2> /dev/null | sed -n '1{/^[a-z0-9.-][a-z0-9.-]*$/p;}') || primary=
  done
  primary=${primary:-${SERVERS%% *}}
  until getent hosts "$primary" > /dev/null; do
    echo "Waits until DNS knows $primary."
    sleep 1
  done
  umask 077
  sed "s/@PRIMARY@/$primary/" "$template" > "$known.new"
  echo "sentinel announce-ip $own" >> "$known.new"
  mv "$known.new" "$known"
else
  # What may have changed in the template: the password.
  grep -v '^sentinel auth-pass ' "$known" > "$known.new"
  grep '^sentinel auth-pass ' "$template" >> "$known.new"
  mv "$known.new" "$known"
fi
exec valkey-sentinel "$known"
