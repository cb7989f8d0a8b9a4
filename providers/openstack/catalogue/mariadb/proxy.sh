# Runs the proxy. When it is told to stop, statements may end: it closes what is still connected after
# the time in its configuration.
ulimit -S -n 65535 2> /dev/null || ulimit -S -n "$(ulimit -H -n)"
haproxy -db -f /etc/haproxy/haproxy.cfg &
proxy=$!
trap 'kill -USR1 "$proxy"' TERM
code=0
while kill -0 "$proxy" 2> /dev/null; do
  wait "$proxy" && code=0 || code=$?
done
exit "$code"
