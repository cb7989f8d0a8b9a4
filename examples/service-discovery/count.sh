# Counts once a second, on the server that the sentinels name. A server whose node is gone does not answer:
# the client then asks the sentinels again.
while sleep 1; do
  host=$(timeout 3 valkey-cli -h "$SENTINEL_HOST" -p "$SENTINEL_PORT" --raw sentinel get-master-addr-by-name "$PRIMARY" | head -n 1)
  echo "$host: $(REDISCLI_AUTH=$(cat /etc/counter/password) timeout 3 valkey-cli -h "$host" --no-auth-warning --raw incr count)"
done
