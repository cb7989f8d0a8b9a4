# Runs a sentinel. It keeps what it knows in a file on its volume, and changes that itself: who the
# primary is, and who else is there. All other settings come from the template at every start. Without
# the file, it asks the other sentinels who the primary is, and then the servers: a first opinion of its
# own would be a wrong one whenever the first server is not the primary any more.

trap 'exit 143' TERM
known=$DATA/sentinel.conf
own=
for sentinel in $SENTINELS; do
  case $sentinel in "$(uname -n)".*) own=$sentinel ;; esac
done

# host prints the first line of its input if it is a host name.
host() { sed -n '1{/^[a-z0-9.-][a-z0-9.-]*$/p;}'; }

# ask sends a command to HOST.
ask() { timeout 3 valkey-cli --no-auth-warning --raw -h "$@" 2> /dev/null; }

primary=
if [ -s "$known" ]; then
  primary=$(sed -n "s/^sentinel monitor $PRIMARY \([^ ]*\) .*/\1/p" "$known" | tr -d '"')
fi
for sentinel in $SENTINELS; do
  [ -n "$primary" ] || primary=$(ask "$sentinel" -p "$SENTINEL_PORT" sentinel get-master-addr-by-name "$PRIMARY" | host)
done
password=$(sed -n 's/^sentinel auth-pass [^ ]* "\(.*\)"$/\1/p' "$TEMPLATE")
for server in $SERVERS; do # replicas know their primary
  [ -n "$primary" ] || primary=$(REDISCLI_AUTH=$password VALKEYCLI_AUTH=$password ask "$server" -p "$PORT" --user members info replication | tr -d '\r' | sed -n 's/^master_host://p' | host)
done
primary=${primary:-${SERVERS%% *}}

until getent hosts "$primary" > /dev/null; do
  echo "Waits until DNS knows $primary."
  sleep 1
done
umask 077
sed "s/@PRIMARY@/$primary/; s/@OWN@/$own/" "$TEMPLATE" > "$known.new"
if [ -s "$known" ]; then # but for members that were removed, which would count for the majority
  hosts=$(echo "$SERVERS $SENTINELS" | tr ' ' '|')
  grep -E "^sentinel (myid|current-epoch|(config-epoch|leader-epoch|known-(replica|sentinel)) $PRIMARY ($hosts|[0-9]+))( |$)" "$known" >> "$known.new" || true
fi
mv "$known.new" "$known"
exec valkey-sentinel "$known"
