# Runs a member of a cluster of servers (Galera). $MEMBERS are the host names of all, and $1 is a
# script that makes an empty database. It needs nobody's help after a power cut, in whatever order
# the members come back: each tells the others its position, and waits until one of them runs. When
# all have told theirs and none runs, the one with the highest starts the cluster. Fewer than all
# prove nothing: members that leave in order shrink the cluster, so that one of three may have gone
# on alone.

cd /var/lib/mysql
run=/run/mysqld
nobody=00000000-0000-0000-0000-000000000000
number=${HOSTNAME##*-}
count=0
peers=
for member in $MEMBERS; do
  count=$((count + 1))
  case $member in
  "$HOSTNAME".*) namespace=$(echo "$member" | cut -d. -f3) ;;
  *) peers="$peers $member" ;;
  esac
done

say() { echo "Member $number: $*" >&2; }

# publish KIND HISTORY SEQNO [primary|waits [ready]] is what the others and the proxy read. The kinds
# of members that do not run are data, single (data of a server without a cluster), partial (a copy
# that is not complete) and empty. The kind of others is runs.
publish() {
  echo "$number $*" > "$run/state.new"
  mv "$run/state.new" "$run/state"
}

# ask HOST prints what a member has published, or nothing.
ask() { timeout 3 socat -u "TCP:$1:$STATE_PORT,connect-timeout=2" - 2> /dev/null | head -n 1; }

# primaries prints the members in a cluster that works.
primaries() { for peer in $peers; do ask "$peer"; done | awk '$2 == "runs" && $5 == "primary"'; }

# set_state HISTORY SEQNO SAFE writes the file that the server reads and writes.
set_state() {
  printf '# GALERA saved state\nversion: 2.1\nuuid:    %s\nseqno:   %s\nsafe_to_bootstrap: %s\n' "$1" "$2" "$3" > grastate.new
  sync grastate.new
  mv grastate.new grastate.dat
}

# recover sets history and seqno to the position in the data of a server that was killed.
recover() {
  mariadbd --defaults-file=/etc/mysql/my.cnf --wsrep-recover > "$run/recovery.log" 2>&1 || failed=true
  position=$(sed -n 's/.*WSREP: Recovered position: *\([0-9a-f-]*:-\{0,1\}[0-9]*\).*/\1/p' "$run/recovery.log" | tail -n 1)
  if [ -n "$failed" ] || [ -z "$position" ]; then
    cat "$run/recovery.log" >&2
    say "The position of the data cannot be read; the lines above say why. Trying again."
    sleep 10
    exit 1
  fi
  # A cluster may be killed before its first transaction.
  if [ "${position%:*}" != "$nobody" ]; then
    history=${position%:*}
    seqno=${position##*:}
  fi
  [ "$seqno" -ge 0 ] || seqno=0
}

# look sets kind, history and seqno to what this member has, and saved to the seqno in the file. The
# directory .sst is there from before a copy overwrites the first file until the last is complete. (The
# file sst_in_progress is also there while a member only gets changes.)
look() {
  kind=empty history=- seqno=-1 saved=-1 failed=
  [ -d mysql ] || [ -d .sst ] || return 0
  kind=partial
  [ ! -d .sst ] || return 0
  if [ ! -e grastate.dat ]; then
    kind=single seqno=0
    return 0
  fi
  history=$(sed -n 's/^uuid: *//p' grastate.dat)
  saved=$(sed -n 's/^seqno: *//p' grastate.dat)
  if [ "$history" = "$nobody" ]; then
    history=-
    return 0
  fi
  kind=data seqno=${saved:--1} saved=${saved:--1}
  [ "$seqno" != -1 ] || recover
  # It may have run without a cluster since, which leaves no trace. The others need whole copies
  # then, which a position that none of them can know makes sure of.
  if [ -e alone ]; then
    seqno=$((seqno + 1))
  fi
}

# command_for FILE TEXT prints how to put a text into a file of this member.
command_for() { echo "kubectl -n $namespace exec $HOSTNAME -c server -- sh -c 'echo $2 > $run/$1'"; }

# complain TEXT says the text each minute, for the first time after 20 seconds.
complained=$(($(date +%s) - 40))
complain() {
  now=$(date +%s)
  if [ $((now - complained)) -ge 60 ]; then
    complained=$now
    say "$*"
  fi
}

# may_join HISTORY SEQNO reports whether data here are a part of those of the cluster that runs.
may_join() {
  case $kind in
  empty | partial) return 0 ;;
  data) if [ "$1" = "$history" ] && [ "$2" -ge "$seqno" ]; then return 0; fi ;;
  esac
  if [ -e "$run/discard" ]; then
    kind=partial
    return 0
  fi
  [ "$1" = - ] || complain "The cluster runs at $1:$2. This member has other data ($kind $history:$seqno), which would be lost if it joined. To let it join without them: $(command_for discard yes)"
  return 1
}

# decide prints the number of the member that starts the cluster, or why none does.
decide() {
  awk -v members="$count" '
    NF < 4 || $2 == "runs" { next }
    { told++ }
    $2 == "partial" { partial = 1 }
    ($2 == "data" || $2 == "single") && !($3 in seen) { seen[$3] = 1; histories++ }
    told == 1 || $4 + 0 > seqno || ($4 + 0 == seqno && $1 + 0 < best) { best = $1 + 0; seqno = $4 + 0 }
    END {
      if (told < members) print "wait"
      else if (histories > 1) print "histories"
      else if (!histories && partial) print "partial"
      else print best
    }'
}

# await returns when this member may start. It sets role to join or to begin.
await() {
  while :; do
    : > "$run/seen"
    others=$(for peer in $peers; do ask "$peer"; done)
    running=$(echo "$others" | awk '$2 == "runs" && $5 == "primary" { print $3, $4; exit }')
    # shellcheck disable=SC2086 # two words
    if [ -n "$running" ] && may_join $running; then
      role="join"
      return
    fi
    if [ -z "$running" ]; then
      role=begin
      case $(printf '%s\n%s\n' "$number $kind $history $seqno" "$others" | decide) in
      "$number") return ;;
      histories)
        complain "The members have different data: $number $kind $history:$seqno, $(echo "$others" | awk '{ printf "%s%s %s %s:%s", sep, $1, $2, $3, $4; sep = ", " }'). To go on with those of this member: $(command_for begin "$history:$seqno"). The others then say how to join."
        ;;
      partial) complain "No member has complete data. A member that had them, or a backup, has to come back." ;;
      wait) complain "Waits for all members to tell their positions. Those that do: $number$(echo "$others" | awk 'NF { printf " " $1 }'). If the others have lost their data for good: $(command_for begin "$history:$seqno")" ;;
      esac
      if [ "$kind" != empty ] && [ "$kind" != partial ] && [ "$(cat "$run/begin" 2> /dev/null)" = "$history:$seqno" ]; then
        return
      fi
    fi
    # The first member still runs without a cluster, and is replaced when all others are ready.
    if [ "$kind" = empty ] && [ -z "$(ask "${MEMBERS%% *}")" ] && timeout 3 socat -u /dev/null "TCP:${MEMBERS%% *}:$CLIENT_PORT,connect-timeout=2" 2> /dev/null; then
      : > "$run/after-the-first"
    else
      rm -f "$run/after-the-first"
    fi
    sleep 1
  done
}

# watch publishes each second how the server is. The file seen is the last time at which it was in a
# cluster that works, or on its way into one.
watch() {
  answered=
  while sleep 1; do
    # The user mysql logs in through the socket, without a password.
    status=$(timeout 5 mariadb --defaults-file=/etc/mysql/my.cnf --user=mysql --batch --skip-column-names --execute="SHOW STATUS LIKE 'wsrep_%'" 2> /dev/null | awk '
      { is[$1] = $2 }
      END {
        if ("wsrep_cluster_status" in is)
          print is["wsrep_cluster_state_uuid"], is["wsrep_last_committed"], is["wsrep_cluster_status"], is["wsrep_ready"], is["wsrep_local_state"], is["wsrep_cluster_size"]
      }')
    # shellcheck disable=SC2086 # six words
    set -- $status
    case "$3 $4 $5" in
    "Primary ON 4" | "Primary ON 2") # 2: gives a copy to another member
      publish "runs $1 $2 primary ready"
      : > "$run/seen"
      answered=true
      if [ "$6" != 1 ]; then
        rm -f alone
      elif [ ! -e alone ]; then
        : > alone
      fi
      ;;
    *)
      if [ -n "$answered" ]; then
        publish "runs ${1:--} ${2:--1} waits"
      elif [ "$role" = begin ] || [ -n "$(primaries)" ]; then
        : > "$run/seen"
      fi
      ;;
    esac
  done
}

# stop lets clients go to another member first. A server that waits for others does not stop when it
# is told to, and has nothing to lose.
stop() {
  kill "$watcher" || true
  patience=100
  grep -q ' ready$' "$run/state" || patience=10
  publish "runs - -1 waits"
  [ "$patience" = 10 ] || sleep 3
  kill "$server"
  { sleep "$patience" && kill -KILL "$server"; } &
}

serve() {
  mariadbd --defaults-file=/etc/mysql/my.cnf --wsrep-node-name="$HOSTNAME" --wsrep-node-address="$POD_IP:$GROUP_PORT" \
    --wsrep-sst-receive-address="$POD_IP:$COPY_PORT" "$@" &
  server=$!
  watch &
  watcher=$!
  trap stop TERM
  code=0
  while kill -0 "$server" 2> /dev/null; do
    wait "$server" && code=0 || code=$?
  done
  say "The server has ended with $code."
  exit "$code"
}

trap 'exit 0' TERM
rm -f "$run/state" "$run/seen" "$run/begin" "$run/discard" "$run/after-the-first"
# Members with different old views wait for each other for ever.
rm -f gvwstate.dat
look
say "has $kind $history:$seqno."
publish "$kind $history $seqno"
while :; do
  socat -U "TCP-LISTEN:$STATE_PORT,fork,reuseaddr" "OPEN:$run/state,rdonly" 2> /dev/null || true
  sleep 1
done &
ulimit -S -n 65535 2> /dev/null || ulimit -S -n "$(ulimit -H -n)"
await
rm -f "$run/after-the-first"

if [ "$role" = join ]; then
  say "joins the cluster."
  publish "runs - -1 waits"
  case $kind in
  # Without it, the server would take the copy for its own data when it is killed before the end.
  empty | partial) set_state "$nobody" -1 0 ;;
  esac
  if [ "$kind" = data ] && [ "$saved" = -1 ]; then
    serve --wsrep-start-position="$history:$seqno"
  fi
  serve
fi

say "starts the cluster."
publish "runs $history $seqno primary"
if [ "$kind" = data ] && [ -e alone ]; then
  rm -f galera.cache
  saved=$seqno
fi
case $kind in
empty) sh -ec "$1" ;;
data) set_state "$history" "$saved" 1 ;;
esac
if [ "$kind" = data ] && [ "$saved" = -1 ]; then
  serve --wsrep-new-cluster --wsrep-start-position="$history:$seqno"
fi
serve --wsrep-new-cluster
