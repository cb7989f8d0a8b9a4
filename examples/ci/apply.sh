#!/bin/sh
# Carries out an approved plan: apply.sh [OPTIONS OF kolla apply]
#
# With FORGE, it fetches the plan that plan.sh kept for the content of this directory. Without,
# kolla.plan is there already. kolla makes the plan again, and refuses to carry it out if the
# configuration or the cluster has changed since. Options that give a plan more power, such as
# -delete-data, are given to plan.sh and to apply.sh.
#
#   KOLLA_DIR         the directory of the configuration (default: this directory)
#   KOLLA_KUBECONFIG  a kubeconfig, or the path of one; it needs the rights of kolla rbac
#   FORGE...          see forge.sh
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cd "${KOLLA_DIR:-.}"

# shellcheck source=SCRIPTDIR/kubeconfig.sh
. "$here/kubeconfig.sh"

if [ -n "${FORGE:-}" ]; then
  rm -f kolla.plan
  "$here/forge.sh" get kolla.plan
fi
chmod 600 kolla.plan # kolla refuses a plan that others can change
kolla apply -input=false -no-color -lock-timeout=15m "$@" kolla.plan
