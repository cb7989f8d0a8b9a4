# Starts OpenSearch. MEMBERS are the hosts of all members, and KOLLA_POD is the name of this one.

# OpenSearch writes a keystore beside its configuration.
mkdir -p "$OPENSEARCH_PATH_CONF"
cp -RL /etc/opensearch/. "$OPENSEARCH_PATH_CONF"

# A member forms a cluster only if no other member answers. So new members, and members without their volume, join.
initial=
for member in $MEMBERS; do
  name=${member%%.*}
  if [ "$name" != "$KOLLA_POD" ] && curl -q --silent --noproxy '*' --max-time 5 --output /dev/null "http://$member:$PORT/"; then
    exec "$@"
  fi
  initial=${initial:+$initial,}$name
done
exec "$@" "-Ecluster.initial_cluster_manager_nodes=$initial"
