# Keeps a copy of a database from standard input for restore.sh. $1 is its size in bytes.
cat > /tmp/restore.db
if [ "$(wc -c < /tmp/restore.db)" -ne "$1" ]; then
  echo "the copy was cut off" >&2
  exit 1
fi
