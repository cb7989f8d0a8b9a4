# Counts once a second, on the server that the sentinels name.
while sleep 1; do
  host=$(valkey-cli -h "$SENTINEL_HOST" -p "$SENTINEL_PORT" --raw sentinel get-master-addr-by-name "$PRIMARY" | head -n 1)
  echo "$host: $(REDISCLI_AUTH=$(cat /etc/counter/password) valkey-cli -h "$host" --no-auth-warning --raw incr count)"
done
