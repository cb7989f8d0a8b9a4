# Starts a collector of logs. In the mode sidecar, log files move aside before they fill their volume:
# programs with oslo.log open a new file then, and other files are emptied.
limit=$((${KOLLA_LOG_FILE_MB:-16} * 1048576))
rotate() {
  for file in /var/log/kolla/*.log; do
    [ -f "$file" ] && [ "$(wc -c < "$file")" -gt "$limit" ] || continue
    case $file in
      *.oslo.log) mv "$file" "$file.1" ;;
      *) : > "$file" ;;
    esac
  done
}
if [ -d /var/log/kolla ]; then
  rotate # also where the collector ends at once, again and again
  while sleep 10; do rotate; done &
fi
# A record that waits for Loki is two open files.
ulimit -S -n "$(ulimit -H -n)" || true
exec "$@"
