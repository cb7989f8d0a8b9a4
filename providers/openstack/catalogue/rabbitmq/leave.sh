# Takes this member out of the cluster for good, with its copies of queues. It runs in the pod of the
# member, and can run again. All members must run: two of them need each other until one has left.

self=$(sed -n 's/^NODENAME=//p' "$RABBITMQ_CONF_ENV_FILE")
other=
for host in $MEMBERS; do
  [ "rabbit@$host" = "$self" ] || [ -n "$other" ] || other=rabbit@$host
done

# In one go: the others would give this member new copies within seconds. The coordinator of streams
# does not answer while it chooses a leader.
tries=6
until rabbitmqctl -n "$other" eval "
N = '$self',
Failed = fun(L) -> [F || {_, R} = F <- L, R =/= ok, element(1, R) =/= ok] end,
[] = Failed(rabbit_quorum_queue:shrink_all(N)),
[] = Failed(rabbit_stream_queue:delete_all_replicas(N)),
ok = rabbit_stream_coordinator:forget_node(N),
ok = rpc:call(N, rabbit, stop, [])."; do
  tries=$((tries - 1))
  [ "$tries" -gt 0 ]
  sleep 5
done
: > "$HOME/astray" # join.py deletes the data if this member starts again
rabbitmqctl -n "$other" forget_cluster_node "$self"
