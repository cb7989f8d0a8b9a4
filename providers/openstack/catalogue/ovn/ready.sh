# Reports whether a member follows a leader, or is one. $1 is nb or sb, $2 the database's name.
status=$(ovs-appctl --timeout=5 -t "/run/ovn/ovn$1_db.ctl" cluster/status "$2")
case $status in
*"Leader: unknown"*) exit 1 ;;
*"Status: cluster member"*) ;;
*) exit 1 ;;
esac
