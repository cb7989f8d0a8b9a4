# Runs a server: as the primary, or as a replica of it. The sentinels say who the primary is, so that
# an old primary that comes back is a replica at once.

trap 'exit 143' TERM
own=
others=
for server in $SERVERS; do
  case $server in
  "$(uname -n)".*) own=$server ;;
  *) others="$others $server" ;;
  esac
done

# ask_server and ask_sentinel send a command to HOST. Sentinels have no password.
ask_server() {
  password=$(cat /run/secrets/members/value)
  REDISCLI_AUTH=$password VALKEYCLI_AUTH=$password timeout 3 valkey-cli --user members --no-auth-warning --raw -p "$PORT" -h "$@" 2> /dev/null
}
ask_sentinel() { timeout 3 valkey-cli --raw -p "$SENTINEL_PORT" -h "$@" 2> /dev/null; }

# primary prints the host that a majority of the sentinels names.
primary() {
  for sentinel in $SENTINELS; do
    ask_sentinel "$sentinel" sentinel get-master-addr-by-name "$PRIMARY" |
      sed -n '1{/^[a-z0-9.-][a-z0-9.-]*$/p;}' || true
  done | sort | uniq -c | while read -r count host; do
    if [ "$count" -ge "$QUORUM" ]; then echo "$host"; fi
  done
}

# Whether there were data before, which a primary without data would take from its replicas. Sentinels
# remember replicas, which a new primary does not have yet. Servers that do not run say nothing.
had_data() {
  for sentinel in $SENTINELS; do
    [ -z "$(ask_sentinel "$sentinel" sentinel replicas "$PRIMARY")" ] || return 0
  done
  for server in $others; do
    keys=$(ask_server "$server" dbsize) || continue
    case $keys in
    "" | 0 | *[!0-9]*) ;;
    *) return 0 ;;
    esac
  done
  return 1
}

said=
say() {
  [ "$said" = "$1" ] || echo "$1"
  said=$1
}
while :; do
  leader=$(primary)
  if [ -z "$leader" ]; then
    say "Waits until $QUORUM sentinels name the same primary."
  elif [ "$leader" != "$own" ]; then
    set -- --replicaof "$leader" "$PORT"
    break
  elif [ -d "$DATA/appendonlydir" ] || ! had_data; then
    set --
    break
  else
    say "Waits until the sentinels name another primary: this server has lost its data."
  fi
  sleep 1
done
echo "Starts as ${1:+a replica of }${2:-the primary}."

# caught_up reports whether all replicas have what the primary has.
caught_up() {
  info=$(ask_server 127.0.0.1 info replication | tr -d '\r')
  offset=$(echo "$info" | sed -n 's/^master_repl_offset://p')
  ! echo "$info" | grep '^slave[0-9]*:.*state=online' | grep -qv ",offset=$offset,"
}

# A primary that stops makes room for a replica first. Its clients wait meanwhile: the sentinels do not, and
# what it answered after their choice would be lost.
stop() {
  trap '' TERM
  case $(ask_server 127.0.0.1 role) in
  master*)
    ask_server 127.0.0.1 client pause 30000 write > /dev/null || true
    for _ in 1 2 3 4 5; do
      ! caught_up || break
      sleep 1
    done
    for sentinel in $SENTINELS; do
      answer=$(ask_sentinel "$sentinel" sentinel failover "$PRIMARY") || continue
      [ "$answer" != OK ] || break
    done
    for _ in 1 2 3 4 5 6 7 8 9 10; do
      case $(ask_server 127.0.0.1 role) in master*) sleep 1 ;; *) break ;; esac
    done
    ;;
  esac
  kill -TERM "$server"
}
valkey-server /etc/valkey/valkey.conf --replica-announce-ip "$own" "$@" &
server=$!
trap stop TERM

# Sentinels tell replicas of another primary, but only those that they know, and they get to know one
# after up to ten seconds.
while sleep 10 && kill -0 "$server" 2> /dev/null; do
  leader=$(primary)
  case $(ask_server 127.0.0.1 info replication | tr -d '\r') in
  *"master_host:$leader"*) ;;
  *role:slave*master_link_status:down*) [ "$leader" = "$own" ] || ask_server 127.0.0.1 replicaof "$leader" "$PORT" || true ;;
  esac
done &

until
  status=0
  wait "$server" || status=$?
  ! kill -0 "$server" 2> /dev/null
do :; done
exit "$status"
