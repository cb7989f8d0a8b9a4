# Names the node by its long name, by which members of a cluster find each other. A node
# whose data were made under its short name keeps that, until RENAME is true: then its
# definitions go on under the long name. Messages do not; the old data stay beside.
umask 077
cd "$HOME"
host=$(uname -n)
short="rabbit@$host" long="rabbit@$host.$NODE_DOMAIN"
carried="definitions-of-$short.json"

name() {
  printf 'NODENAME=%s\nUSE_LONGNAME=%s\n' "$1" "$2" >"$RABBITMQ_CONF_ENV_FILE.new"
  mv "$RABBITMQ_CONF_ENV_FILE.new" "$RABBITMQ_CONF_ENV_FILE"
  echo "the node is $1"
}

# Runs a command of rabbitmqctl while the node runs.
with_node() {
  rabbitmq-server &
  node=$!
  until rabbitmqctl await_startup --timeout 60; do
    kill -0 "$node"
    sleep 1
  done
  rabbitmqctl "$@"
  rabbitmqctl shutdown
  wait "$node"
}

if [ -d "mnesia/$short" ] && [ "$RENAME" != true ]; then
  rm -f "$carried"
  name "$short" false
  exit 0
fi

tries=120
until getent hosts "${long#*@}" >/dev/null; do
  tries=$((tries - 1))
  if [ "$tries" = 0 ]; then
    echo "DNS does not know ${long#*@}" >&2
    exit 1
  fi
  sleep 1
done

if [ -d "mnesia/$short" ]; then
  if [ ! -f "$carried" ]; then
    name "$short" false
    with_node export_definitions "$HOME/$carried.new"
    mv "$carried.new" "$carried"
  fi
  rm -rf "mnesia/$long" # of a try that was cut short
  name "$long" true
  with_node import_definitions "$HOME/$carried"
  mv "mnesia/$short" "data-of-$short"
fi
name "$long" true
