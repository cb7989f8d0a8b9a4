# shellcheck shell=sh
# Sets KUBECONFIG from KOLLA_KUBECONFIG, which is a kubeconfig or the path of one. plan.sh and
# apply.sh read this file.
if [ -n "${KOLLA_KUBECONFIG:-}" ]; then
  if [ -f "$KOLLA_KUBECONFIG" ]; then
    KUBECONFIG=$KOLLA_KUBECONFIG
  else
    KUBECONFIG=$(mktemp) # only the owner can read it
    trap 'rm -f "$KUBECONFIG"' EXIT
    printf '%s\n' "$KOLLA_KUBECONFIG" >"$KUBECONFIG"
  fi
  export KUBECONFIG
  unset KOLLA_KUBECONFIG
fi
