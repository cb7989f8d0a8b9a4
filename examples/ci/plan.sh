#!/bin/sh
# Plans a change: plan.sh [OPTIONS OF kolla plan]
#
# It writes plan.md, the text for the review, and kolla.plan, which apply.sh carries out. With
# FORGE_PULL, plan.md becomes a comment of the pull request. With FORGE, kolla.plan is kept for
# apply.sh.
#
#   KOLLA_DIR          the directory of the configuration (default: this directory)
#   KOLLA_KUBECONFIG   a kubeconfig, or the path of one; the rights of kolla rbac -read-only are enough
#   KOLLA_ANNOTATIONS  the value of -annotations, such as github, or gitlab:codequality.json
#   FORGE...           see forge.sh
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cd "${KOLLA_DIR:-.}"

# shellcheck source=SCRIPTDIR/kubeconfig.sh
. "$here/kubeconfig.sh"

rm -f plan.md kolla.plan
code=0
kolla plan -input=false -no-color -detailed-exitcode -report=plan.md -out=kolla.plan \
  ${KOLLA_ANNOTATIONS:+"-annotations=$KOLLA_ANNOTATIONS"} "$@" || code=$?
case $code in
0 | 2) ;; # nothing to do, or changes
*)
  rm -f kolla.plan
  # Without a new comment, reviewers would take the last plan for the plan of this change.
  cloud=$(sed -n 's/^cloud "\([^"]*\)".*/\1/p' ./*.hcl | head -n 1)
  if [ ! -s plan.md ] && [ -n "$cloud" ]; then
    marked=$(printf %s "$cloud" | sed 's/--/\&#45;\&#45;/g') # two hyphens would end a comment of HTML
    cat >plan.md <<EOT
<!-- kolla plan of $marked -->
### kolla: cloud \`$cloud\`

**The plan failed.** The log of the job says why.
EOT
  fi
  ;;
esac

if [ -n "${FORGE_PULL:-}" ] && [ -s plan.md ]; then
  "$here/forge.sh" comment plan.md
fi
if [ -n "${FORGE:-}" ] && [ -s kolla.plan ]; then
  "$here/forge.sh" put kolla.plan
fi
test -s kolla.plan || exit "$code"
