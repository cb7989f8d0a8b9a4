# An image that is being imported lies in the pod that took it in. The others ask that pod
# for it, by its address.
address=$(python3 -c 'import socket; print(socket.getaddrinfo(socket.gethostname(), None)[0][4][0])')
case $address in
*:*) address="[$address]" ;;
esac
export OS_DEFAULT__WORKER_SELF_REFERENCE_URL="http://$address:$0"
exec "$@"
