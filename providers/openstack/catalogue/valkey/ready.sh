# Reports whether a server is the primary, or has the data of the primary.
password=$(cat /run/secrets/members/value)
case $(REDISCLI_AUTH=$password VALKEYCLI_AUTH=$password valkey-cli --user members -p "$PORT" --no-auth-warning --raw info replication) in
*role:master* | *master_link_status:up*) ;;
*) exit 1 ;;
esac
