# Keeps a copy of the data from standard input for the command `restore`. $1 is its size in bytes.
umask 077
cat > /tmp/restore
if [ "$(wc -c < /tmp/restore)" -ne "$1" ]; then
  echo "the copy was cut off" >&2
  exit 1
fi
