# Runs a member of the cluster that has a database. $1 is nb or sb, $2 the database's name.
# SELF is the name of the pod, MEMBERS are the host names of all.

file=/var/lib/openvswitch/ovn-$1/ovn$1.db
schema=/usr/share/ovn/ovn-$1.ovsschema
own=
others=()
for member in $MEMBERS; do
  if [[ ${member%%.*} == "$SELF" ]]; then own=tcp:$member:$RAFT_PORT; else others+=("tcp:$member:$RAFT_PORT"); fi
done

# Pods start one after the other, the first one first. So a first one without data, and
# without another that has a name already, begins the cluster; everybody else joins it.
if [[ ! -s $file ]]; then
  rm -f "$file.new"
  first=$own
  for other in "${others[@]}"; do
    host=${other#tcp:}
    if getent hosts "${host%:*}" > /dev/null; then first=$other; break; fi
  done
  if [[ $first == "$own" && $SELF == *-0 ]]; then
    ovsdb-tool create-cluster "$file.new" "$schema" "$own"
  else
    ovsdb-tool join-cluster "$file.new" "$2" "$own" "${others[@]}"
  fi
  mv "$file.new" "$file"
fi

# The schema of a newer release, once the database answers.
socket=unix:/run/ovn/ovn$1_db.sock
bring_up() {
  until ovsdb-client list-dbs "$socket" > /dev/null 2>&1; do sleep 1; done
  [[ $(ovsdb-client needs-conversion "$socket" "$schema") != yes ]] || ovsdb-client convert "$socket" "$schema"
}
bring_up &

exec ovsdb-server "$file" \
  --remote="ptcp:$DB_PORT:0.0.0.0" --remote="p$socket" \
  --unixctl="/run/ovn/ovn$1_db.ctl" --pidfile="/run/ovn/ovn$1_db.pid" -vconsole:info
