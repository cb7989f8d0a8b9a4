#!/bin/sh
# Checks a change without a cluster and without secrets: fork.sh BASE
#
# BASE is the revision of git that the change is for, such as origin/main. Later changes of BASE
# do not count: the comparison begins where the change left it. diff.md says which objects change.
#
#   KOLLA_DIR          the directory of the configuration (default: this directory)
#   KOLLA_ANNOTATIONS  the value of -annotations, such as github, or gitlab:codequality.json
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cd "${KOLLA_DIR:-.}"

# shellcheck source=SCRIPTDIR/git.sh
. "$here/git.sh"

kolla fmt -check -recursive
kolla validate -no-color ${KOLLA_ANNOTATIONS:+"-annotations=$KOLLA_ANNOTATIONS"}

# A fetch also brings tags, and git prefers a tag origin/main to the branch.
case $(git -C "$clone" rev-parse --symbolic-full-name "$1") in
refs/tags/*) case $1 in refs/* | tags/*) ;; *) refuse "$1 is a tag. Write refs/remotes/origin/NAME, or refs/tags/NAME." ;; esac ;;
esac
base=$(LC_ALL=C git -C "$clone" -c core.warnAmbiguousRefs=true merge-base "$1" HEAD 2>&1) || refuse "$base"
case $base in *ambiguous*) refuse "$base" "Write refs/remotes/origin/NAME." ;; esac
kolla diff -no-color -report=diff.md "$base"
