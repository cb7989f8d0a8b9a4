# Runs a relay of the southbound database. SOURCE are its members, PORT is where clients connect.
# The times are as in db.sh, which puts that of PORT into the database for Open vSwitch before 3.3.

if ovsdb-server --help | grep -q -e --config-file; then
  cat > /run/ovn/relay.json << JSON
{"remotes": {"ptcp:$PORT:0.0.0.0": {"inactivity-probe": 60000}},
 "databases": {"OVN_Southbound": {"service-model": "relay", "source": {"$SOURCE": {"inactivity-probe": 120000}}}}}
JSON
  set -- --config-file=/run/ovn/relay.json
else
  set -- --remote="ptcp:$PORT:0.0.0.0" --remote=db:OVN_Southbound,SB_Global,connections "relay:OVN_Southbound:$SOURCE"
fi
ulimit -S -n 65535 2> /dev/null || ulimit -S -n "$(ulimit -H -n)"
exec ovsdb-server "$@" --unixctl=/run/ovn/relay.ctl --pidfile=/run/ovn/relay.pid -vconsole:info
