# Runs a member of a cluster. $1 is join.py, which decides how it starts.

ulimit -S -n 65535 2> /dev/null || ulimit -S -n "$(ulimit -H -n)"
if ! grep -q '^USE_LONGNAME=true' "$RABBITMQ_CONF_ENV_FILE"; then
  echo "The data of this node have its short name, with which it cannot be in a cluster. Apply rename_nodes = true with one replica first." >&2
  exit 1
fi

# A shell looks at a signal only after its command. So it waits for a command in the background.
run() {
  "$@" &
  child=$!
  if [ -n "$server" ]; then settle "$child" & fi
  until
    status=0
    wait "$child" || status=$?
    ! kill -0 "$child" 2> /dev/null
  do :; done
}

# Before a member stops, others lead its queues, once enough of them have a copy of each.
stop() {
  trap '' TERM
  stopped=true
  if [ -n "$server" ]; then
    rabbitmq-upgrade await_online_quorum_plus_one -t "$PATIENCE" || true
    rabbitmq-upgrade drain || true
  fi
  kill -TERM "$child" || true
}

# A new cluster gets Khepri for its definitions before others join: 4.0 and 4.1 have it, and use it only
# if they are asked. Of others, settle checks that they are in the cluster that they were to join. They
# get copies of the streams that are there. Quorum queues come by themselves. What does not work is
# tried again: the next start would take a member that has not settled for one that has not joined.
settle() {
  until sleep 3 && rabbitmqctl --quiet await_startup --timeout 600 2> /dev/null; do
    kill -0 "$1" 2> /dev/null || return 0
  done
  if [ -e "$HOME/begins" ]; then
    rabbitmqctl --quiet enable_feature_flag --opt-in khepri_db || echo "Goes on without Khepri." >&2
    rm "$HOME/begins"
  fi
  if [ -e "$HOME/joining" ]; then
    joined=$(cat "$HOME/joining")
    until members=$(rabbitmqctl --quiet eval 'rabbit_nodes:list_members().'); do
      sleep 3
      kill -0 "$1" 2> /dev/null || return 0
    done
    case $members in
    *"rabbit@$joined'"*) rm "$HOME/joining" ;;
    *)
      echo "This member has begun a cluster of its own, instead of joining $joined. It starts again without data." >&2
      : > "$HOME/astray"
      kill -KILL "$1"
      return
      ;;
    esac
  fi
  [ -e "$HOME/streams-missing" ] || return 0
  until copy_streams; do
    sleep 10
    kill -0 "$1" 2> /dev/null || return 0
  done
  rm "$HOME/streams-missing"
}

# Adds this member to the streams that it has no copy of, and fails until a look finds none while all
# members run. (Not all packages have the program rabbitmq-streams.) If this member lost its data or died
# while it joined, the coordinator of streams, which runs on all members, counts it and has nothing to
# start here: then another member forgets that, and the coordinator adds it again within half a minute.
copy_streams() {
  found=$(rabbitmqctl --quiet eval '
Others = [N || N <- rabbit_nodes:list_running() -- [node()], is_pid(rpc:call(N, erlang, whereis, [rabbit_stream_coordinator]))],
case whereis(rabbit_stream_coordinator) of
  undefined when Others =/= [] -> rpc:call(hd(Others), rabbit_stream_coordinator, forget_node, [node()]), again;
  _ ->
    Missing = [amqqueue:get_name(Q) || Q <- rabbit_amqqueue:list(), amqqueue:get_type(Q) =:= rabbit_stream_queue,
      not lists:member(node(), proplists:get_value(members, rabbit_stream_queue:info(Q, [members])))],
    [rabbit_stream_queue:add_replica(VHost, Name, node()) || {resource, VHost, queue, Name} <- Missing],
    {length(Missing), rabbit_nodes:list_members() -- rabbit_nodes:list_running()}
end.') || true
  [ "$found" = "{0,[]}" ]
}

server=
stopped=
trap stop TERM
run python3 -c "$1"
[ "$status" = 0 ] && [ -z "$stopped" ] || exit "$status"

server=true
run rabbitmq-server
exit "$status"
