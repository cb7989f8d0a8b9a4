# Runs a command that reads OVN's databases. The clients in Python resolve no names without a
# module that images lack, so they get addresses. SB is HOST:PORT, NB several of them: all
# members of a cluster, so that the leader is among them. The hosts are Services, whose
# addresses stay.

resolve() {
  ip=$(getent ahosts "${1%:*}" | awk 'NR == 1 { print $1 }')
  case $ip in
  "")
    echo "${1%:*} has no address." >&2
    return 1
    ;;
  *:*) echo "tcp:[$ip]:${1##*:}" ;;
  *) echo "tcp:$ip:${1##*:}" ;;
  esac
}

if [ -n "${NB-}" ]; then
  OS_OVN__OVN_NB_CONNECTION=
  for member in $NB; do
    found=$(resolve "$member")
    OS_OVN__OVN_NB_CONNECTION=${OS_OVN__OVN_NB_CONNECTION:+$OS_OVN__OVN_NB_CONNECTION,}$found
  done
  export OS_OVN__OVN_NB_CONNECTION
fi
OS_OVN__OVN_SB_CONNECTION=$(resolve "$SB")
export OS_OVN__OVN_SB_CONNECTION
exec "$@"
