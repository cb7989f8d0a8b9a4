# Runs a command that reads OVN's databases. The clients in Python resolve no names without a
# module that images lack, so they get addresses. NB and SB are HOST:PORT; the hosts are
# Services, whose addresses stay.

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
  OS_OVN__OVN_NB_CONNECTION=$(resolve "$NB")
  export OS_OVN__OVN_NB_CONNECTION
fi
OS_OVN__OVN_SB_CONNECTION=$(resolve "$SB")
export OS_OVN__OVN_SB_CONNECTION
exec "$@"
