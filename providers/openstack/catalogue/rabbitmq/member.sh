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
# get copies of the streams that are there. Quorum queues come by themselves.
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
    members=$(rabbitmqctl --quiet eval 'rabbit_nodes:list_members().')
    case $members in
    *"rabbit@$joined'"*) rm "$HOME/joining" ;;
    *)
      echo "This member has begun a cluster of its own, instead of joining $joined. It starts again without data." >&2
      kill -KILL "$1"
      return
      ;;
    esac
  fi
  [ -e "$HOME/streams-missing" ] || return 0
  self=$(sed -n 's/^NODENAME=//p' "$RABBITMQ_CONF_ENV_FILE")
  tab=$(printf '\t')
  rabbitmqctl --silent list_vhosts name | while IFS= read -r vhost; do
    rabbitmqctl --silent list_queues -p "$vhost" type members name < /dev/null | while IFS=$tab read -r type members name; do
      case $type:$members in
      stream:*"$self"*) ;;
      stream:*) rabbitmq-streams --quiet add_replica -p "$vhost" "$name" "$self" < /dev/null ;;
      esac
    done
  done
  rm "$HOME/streams-missing"
}

server=
stopped=
trap stop TERM
run python3 -c "$1"
[ "$status" = 0 ] && [ -z "$stopped" ] || exit "$status"

server=true
run rabbitmq-server
exit "$status"
