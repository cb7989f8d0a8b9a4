#!/bin/sh
# Installs kolla from a release archive: install.sh DIR
#
#   KOLLA_ARCHIVE  URL of the archive, kolla_VERSION_linux_amd64.tar.gz
#   KOLLA_SHA256   its checksum, from the SHA256SUMS of the release
set -eu
mkdir -p "$1"
temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
curl --silent --show-error --fail --location --output "$temporary/archive" "$KOLLA_ARCHIVE"
if ! echo "$KOLLA_SHA256  $temporary/archive" | sha256sum -c - >/dev/null; then
  echo "$KOLLA_ARCHIVE does not have the checksum of KOLLA_SHA256. It is not installed." >&2
  exit 1
fi
tar -xzf "$temporary/archive" -C "$temporary"
install -m 0755 "$temporary"/kolla_*/kolla "$1/kolla"
"$1/kolla" version
