# Runs a member of the cluster that has a database. $1 is nb or sb, $2 the database's name.
# MEMBERS are the host names of all, DATA is the directory.

file=$DATA/ovn$1.db
schema=/usr/share/ovn/ovn-$1.ovsschema
socket=unix:/run/ovn/ovn$1_db.sock
control=/run/ovn/ovn$1_db.ctl
own=
others=
for member in $MEMBERS; do
  case $member in
  "$HOSTNAME".*) own=tcp:$member:$RAFT_PORT ;;
  *) others="$others $member" ;;
  esac
done

# cluster_of MEMBER DATABASE prints the cluster that a member has data of, or none.
none=00000000-0000-0000-0000-000000000000
cluster_of() {
  query='["_Server",{"op":"select","table":"Database","where":[["name","==","'$2'"]],"columns":["cid"]}]'
  ovsdb-client --timeout=5 query "tcp:$1:$DB_PORT" "$query" 2> /dev/null | sed -n 's/.*"cid":\["uuid","\([^"]*\)"\].*/\1/p'
}

# begins DATABASE reports whether this member begins the cluster. The first one does, once all
# others have said that they have no data. A first one that lost its data must not: the others
# have them, even while they do not run.
begins() {
  [ "$HOSTNAME" = "${HOSTNAME%-*}-0" ] || return 1
  for member in $others; do
    until cluster=$(cluster_of "$member" "$1") && [ -n "$cluster" ]; do
      echo "Waiting for $member to say whether it has data."
      sleep 1
    done
    [ "$cluster" = "$none" ] || return 1
  done
}

# A member that left its cluster can only come back as a new one.
if [ -s "$file" ] && tail -n 1 "$file" | grep -q '"note":"left"'; then
  rm "$file"
fi
if [ ! -s "$file" ]; then
  rm -f "$file.new"
  if begins "$2"; then
    # After how many milliseconds without a leader members elect another one. With the default,
    # one second, a busy node or disk suffices for that.
    ovsdb-tool --election-timer=4000 create-cluster "$file.new" "$schema" "$own"
  else
    remotes=
    for member in $others; do remotes="$remotes tcp:$member:$RAFT_PORT"; done
    # shellcheck disable=SC2086 # one argument each
    ovsdb-tool join-cluster "$file.new" "$2" "$own" $remotes
  fi
  mv "$file.new" "$file"
fi

# A member that lost its data is a new one to the cluster. The lost one has the same address,
# and would count as a member that is down.
forget_lost() {
  while :; do
    status=$(ovs-appctl -t "$control" cluster/status "$1" 2> /dev/null) || status=
    case $status in
    *"Leader: unknown"*) ;;
    *"Status: cluster member"*)
      lost=$(echo "$status" | awk -v at="$own)" '$3 == "at" && $4 == at && !/\(self\)/ { print $1 }')
      [ -n "$lost" ] || return 0
      for server in $lost; do ovs-appctl -t "$control" cluster/kick "$1" "$server" || true; done
      ;;
    esac
    sleep 1
  done
}

# The schema of a newer release, as soon as the database answers.
bring_up() {
  until [ "$(ovsdb-client needs-conversion "$socket" "$schema" 2> /dev/null)" = no ]; do
    sleep 2
    ovsdb-client convert "$socket" "$schema" > /dev/null 2>&1 || true # another member leads, or none yet
  done
}

# set_probes NAME puts into the database how long clients of PORTS may be silent.
set_probes() {
  targets=
  for port in $PORTS; do targets="$targets ptcp:$port:0.0.0.0"; done
  # shellcheck disable=SC2086 # one argument each
  until "ovn-$1ctl" --timeout=30 --no-leader-only --db="$socket" --inactivity-probe=60000 set-connection $targets; do
    sleep 2 # no member leads
  done
}

# A client that computes the flows of many servers answers nobody for longer than the 5 seconds
# after which a server asks whether it is still there. Open vSwitch before 3.3 finds another time
# only in the database.
config_file=
if ovsdb-server --help | grep -q -e --config-file; then config_file=true; fi

{
  forget_lost "$2"
  bring_up
  [ -n "$config_file" ] || set_probes "$1"
} &

if [ -n "$config_file" ]; then
  cat > "$DATA/server.json" << JSON
{"remotes": {"ptcp:$DB_PORT:0.0.0.0": {"inactivity-probe": 60000}, "p$socket": {}},
 "databases": {"$file": {}}}
JSON
  set -- "$1" "$2" --config-file="$DATA/server.json"
else
  # The port is on the command line as well, because a member without a database has to answer.
  set -- "$1" "$2" "$file" --remote="ptcp:$DB_PORT:0.0.0.0" --remote="p$socket" \
    --remote="db:$2,$(echo "$1" | tr nsb NSB)_Global,connections"
fi
name=$1
shift 2
# Each client takes a file descriptor.
ulimit -S -n 65535 2> /dev/null || ulimit -S -n "$(ulimit -H -n)"
exec ovsdb-server "$@" --unixctl="$control" --pidfile="/run/ovn/ovn${name}_db.pid" -vconsole:info
