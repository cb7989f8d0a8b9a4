# Reports whether a member is in sync and has its root password. The members of a new cluster that
# wait for the first one, which still runs without a cluster, are ready: it is replaced after them.
if [ ! -e /run/mysqld/after-the-first ]; then
  test -e /run/mysqld/root-is-set
  grep -q ' ready$' /run/mysqld/state
fi
