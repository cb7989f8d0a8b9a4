# Runs the database of Open vSwitch on the node: made at the first start, and brought up to
# the schema of the image at every other. DATA is the directory.

file=$DATA/conf.db
schema=/usr/share/openvswitch/vswitch.ovsschema

if [ ! -s "$file" ]; then
  rm -f "$file.new"
  ovsdb-tool create "$file.new" $schema
  mv "$file.new" "$file"
elif [ "$(ovsdb-tool needs-conversion "$file" $schema)" = yes ]; then
  ovsdb-tool convert "$file" $schema
fi

exec ovsdb-server "$file" --remote=punix:/run/openvswitch/db.sock \
  --remote=db:Open_vSwitch,Open_vSwitch,manager_options \
  --unixctl=/run/openvswitch/ovsdb-server.ctl --pidfile=/run/openvswitch/ovsdb-server.pid -vconsole:info
