# Runs a member of the cluster that has a database. $1 is nb or sb, $2 the database's name.
# MEMBERS are the host names of all, DATA is the directory.

file=$DATA/ovn$1.db
schema=/usr/share/ovn/ovn-$1.ovsschema
own=
others=
for member in $MEMBERS; do
  case $member in
  "$HOSTNAME".*) own=tcp:$member:$RAFT_PORT ;;
  *) others="$others tcp:$member:$RAFT_PORT" ;;
  esac
done

# Whether another member has a name already: pods start one after the other.
joined() {
  for member in $MEMBERS; do
    case $member in
    "$HOSTNAME".*) ;;
    *) if getent hosts "$member" > /dev/null; then return 0; fi ;;
    esac
  done
  return 1
}

# A first one without data that is alone begins the cluster; everybody else joins it.
if [ ! -s "$file" ]; then
  rm -f "$file.new"
  if [ "$HOSTNAME" = "${HOSTNAME%-*}-0" ] && ! joined; then
    ovsdb-tool create-cluster "$file.new" "$schema" "$own"
  else
    # shellcheck disable=SC2086 # one argument each
    ovsdb-tool join-cluster "$file.new" "$2" "$own" $others
  fi
  mv "$file.new" "$file"
fi

# The schema of a newer release, as soon as the database answers.
socket=unix:/run/ovn/ovn$1_db.sock
bring_up() {
  until [ "$(ovsdb-client needs-conversion "$socket" "$schema" 2> /dev/null)" = no ]; do
    sleep 2
    ovsdb-client convert "$socket" "$schema" > /dev/null 2>&1 || true # another member leads, or none yet
  done
}
bring_up &

exec ovsdb-server "$file" \
  --remote="ptcp:$DB_PORT:0.0.0.0" --remote="p$socket" \
  --unixctl="/run/ovn/ovn$1_db.ctl" --pidfile="/run/ovn/ovn$1_db.pid" -vconsole:info
