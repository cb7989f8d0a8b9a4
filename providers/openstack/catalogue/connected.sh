# Reports whether a process has a connection to a port. $1 is part of the process's command line,
# $2 is the port at the other end. Only an established connection counts, and only the process's
# own: a socket whose first packet nobody answers exists, too.

pids=$(pgrep -d '|' -f "$1") || {
  echo "There is no process $1." >&2
  exit 1
}
ss -H -n -t -p state established "dport = :$2" | grep -qE "pid=($pids)," || {
  echo "No process $1 is connected to port $2." >&2
  exit 1
}
