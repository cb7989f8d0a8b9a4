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

# publish KIND HISTORY SEQNO [ORIGIN ready|waits] is what the others and the proxy read. The kinds of
# members that do not run are data, single (data with which no other member can continue), partial (a
# copy that is not complete) and empty. The kind of members that run is runs. ORIGIN is HISTORY:SEQNO
# of an earlier cluster whose data up to there are a part of those here, or -.
publish() {
  echo "$number $*" > "$run/state.new"
  mv "$run/state.new" "$run/state"
}

# ask HOST prints what a member has published, or nothing.
ask() { timeout 3 socat -u "TCP:$1:$STATE_PORT,connect-timeout=2" - 2> /dev/null | head -n 1; }

# ready prints the members that are in sync.
ready() { for peer in $peers; do ask "$peer"; done | awk '$2 == "runs" && $6 == "ready"'; }

# save FILE writes a file from the standard input, so that it is whole after a power cut, too.
save() {
  cat > "$1.new"
  sync "$1.new"
  mv "$1.new" "$1"
  sync .
}

# set_state HISTORY SEQNO SAFE writes the file that the server reads and writes.
set_state() {
  printf '# GALERA saved state\nversion: 2.1\nuuid:    %s\nseqno:   %s\nsafe_to_bootstrap: %s\n' "$1" "$2" "$3" | save grastate.dat
}

# single is for data that start a history of their own.
single() {
  kind=single history=- seqno=0
  if [ "$origin" != - ]; then
    history=${origin%:*} seqno=${origin##*:}
  fi
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
  case ${position%:*} in
  # A cluster may be killed before its first transaction,
  "$nobody") seqno=0 ;;
  "${history:=${position%:*}}") seqno=${position##*:} ;;
  # and before data that start a new history have that in them.
  *) single ;;
  esac
  [ "$seqno" -ge 0 ] || seqno=0
}

# look sets kind, history, seqno and origin to what this member has, and saved to the seqno in the file.
# The directory .sst is there from before a copy overwrites the first file until the last is complete.
# (The file sst_in_progress is also there while a member only gets changes.)
look() {
  kind=empty history=- seqno=-1 saved=-1 failed=
  origin=$(cat origin 2> /dev/null || echo -)
  [ -d mysql ] || [ -d .sst ] || return 0
  kind=partial
  [ ! -d .sst ] || return 0
  if [ ! -e grastate.dat ]; then
    single
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

# may_join HISTORY SEQNO ORIGIN reports whether data here are a part of those of the cluster that runs.
may_join() {
  case $kind in
  empty | partial) return 0 ;;
  data)
    if [ "$1" = "$history" ] && [ "$2" -ge "$seqno" ]; then
      return 0
    fi
    if [ "${3%:*}" = "$history" ] && [ "${3##*:}" -ge "$seqno" ]; then
      kind=partial
      return 0
    fi
    ;;
  esac
  if [ -e "$run/discard" ]; then
    kind=partial
    return 0
  fi
  complain "The cluster runs at $1:$2. This member has other data ($kind $history:$seqno), which would be lost if it joined. To let it join without them: $(command_for discard yes)"
  return 1
}

# decide prints the number of the member that starts the cluster, or why none does. It reads what each
# member tells, and counts a member that answers at two addresses once.
decide() {
  awk -v members="$count" '
    NF < 4 || $2 == "runs" || ($1 in told) { next }
    { told[$1]; count++; rank = $4 + ($2 == "single") / 2 }
    $2 == "partial" { partial = 1 }
    $2 == "single" { single = 1 }
    ($2 == "data" || $2 == "single") && !($3 in seen) { seen[$3]; histories++ }
    count == 1 || rank > highest || (rank == highest && $1 + 0 < best) { best = $1 + 0; highest = rank; kind = $2 }
    END {
      if (count < members) print "wait"
      else if (histories > 1 || (single && kind != "single")) print "histories"
      else if (!histories && partial) print "partial"
      else print best
    }'
}

# await returns when this member may start. It sets role to join or to begin.
await() {
  data=
  case $kind in data | single) data=true ;; esac
  while :; do
    : > "$run/seen"
    others=$(for peer in $peers; do ask "$peer"; done)
    # One member knows the origin of the cluster.
    running=$(echo "$others" | awk '$2 == "runs" && $6 == "ready" && (!out || $5 != "-") { out = $3 " " $4 " " $5 } END { print out }')
    # shellcheck disable=SC2086 # three words
    if [ -n "$running" ] && may_join $running; then
      role="join"
      return
    fi
    if [ -z "$running" ]; then
      role=begin
      case $(printf '%s\n%s\n' "$number $kind $history $seqno" "$others" | decide) in
      "$number") return ;;
      histories)
        complain "The members have different data: $number $kind $history:$seqno, $(echo "$others" | awk '{ printf "%s%s %s %s:%s", sep, $1, $2, $3, $4; sep = ", " }').${data:+ To go on with those of this member: $(command_for begin "$history:$seqno"). The others then join, or say how they can.}"
        ;;
      partial) complain "No member has complete data. A member that had them, or a backup, has to come back." ;;
      wait) complain "Waits for all members to tell their positions. Those that do: $number$(echo "$others" | awk 'NF { printf " " $1 }').${data:+ If the others have lost their data for good: $(command_for begin "$history:$seqno")}" ;;
      esac
      if [ -n "$data" ] && [ "$(cat "$run/begin" 2> /dev/null)" = "$history:$seqno" ]; then
        forced=true
        return
      fi
    fi
    # The first member still runs without a cluster, and is replaced when all others are ready.
    if [ "$number" != 0 ] && [ -z "$(ask "${MEMBERS%% *}")" ] && timeout 3 socat -u /dev/null "TCP:${MEMBERS%% *}:$CLIENT_PORT,connect-timeout=2" 2> /dev/null; then
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
          print is["wsrep_cluster_state_uuid"], is["wsrep_last_committed"], is["wsrep_cluster_status"], is["wsrep_ready"], is["wsrep_local_state"]
      }')
    # shellcheck disable=SC2086 # five words
    set -- $status
    case "$3 $4 $5" in
    "Primary ON 4" | "Primary ON 2") # 2: gives a copy to another member
      publish "runs $1 $2 $origin ready"
      answered=true
      ;;
    *) [ -z "$answered" ] || publish "runs ${1:--} ${2:--1} - waits" ;;
    esac
    # A member may need long for a copy, in which its server does not answer, and to catch up with the
    # others. A server that answers outside of a cluster has given up: "node restart required".
    if [ "$3" = Primary ] || { [ -z "$answered$3" ] && { [ "$role" = begin ] || [ -n "$(ready)" ]; }; }; then
      : > "$run/seen"
    fi
  done
}

# stop lets clients go to another member first. A server that waits for others does not stop when it
# is told to, and has nothing to lose.
stop() {
  kill "$watcher" || true
  patience=100
  grep -q ' ready$' "$run/state" || patience=10
  publish "runs - -1 - waits" || true # the watcher may have moved the file
  [ "$patience" = 10 ] || sleep 3
  kill "$server"
  { sleep "$patience" && kill -KILL "$server"; } &
}

serve() {
  mariadbd --defaults-file=/etc/mysql/my.cnf --wsrep-node-name="$HOSTNAME" --wsrep-node-address="$POD_IP:$GROUP_PORT" \
    --wsrep-sst-receive-address="$POD_IP:$COPY_PORT" "$@" &
  server=$!
  : > "$run/seen"
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
forced=
await
rm -f "$run/after-the-first" "$run/seen"

if [ "$role" = join ]; then
  say "joins the cluster."
  publish "runs - -1 - waits"
  case $kind in
  # Without it, the server would take the copy for its own data when it is killed before the end.
  empty | partial)
    rm -f origin
    origin=-
    set_state "$nobody" -1 0
    ;;
  esac
  if [ "$kind" = data ] && [ "$saved" = -1 ]; then
    serve --wsrep-start-position="$history:$seqno"
  fi
  serve
fi

say "starts the cluster."
publish "runs - -1 - waits"
# A member that is away may have more of this history. It would take what is written from now on for
# the continuation of its own data. So the cluster gets a new history.
if [ -n "$forced" ] && [ "$kind" = data ]; then
  origin=$history:$seqno
  echo "$origin" | save origin
  kind=single
fi
case $kind in
empty) sh -ec "$1" ;;
single) # without these files, the server makes a new history
  rm -f grastate.dat galera.cache
  sync .
  ;;
data) set_state "$history" "$saved" 1 ;;
esac
if [ "$kind" = data ] && [ "$saved" = -1 ]; then
  serve --wsrep-new-cluster --wsrep-start-position="$history:$seqno"
fi
serve --wsrep-new-cluster
