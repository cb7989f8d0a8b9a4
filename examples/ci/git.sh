# shellcheck shell=sh
# Finds the clone that contains this directory. fork.sh and forge.sh read this file.
#
# A branch can bring a directory that git takes for a repository of its own, with its own
# settings and branches; a submodule; or a link in place of a directory. So git gets the directory
# that has ".git", which no branch can bring, and the others are refused.
refuse() {
  echo "$*" >&2
  exit 1
}
# shellcheck disable=SC2046
unset $(git rev-parse --local-env-vars) # such as GIT_DIR
clone=$PWD prefix=''
while [ ! -e "$clone/.git" ]; do
  [ "$clone" != / ] || refuse "$PWD is in no clone of git."
  prefix=${clone##*/}/$prefix
  clone=$(dirname "$clone")
done
[ -d "$clone/.git" ] || refuse "$clone is a submodule, or a linked work tree. Run this in a clone."
[ "$(cd "$clone" && pwd -P)/$prefix" = "$(pwd -P | sed 's|/*$|/|')" ] || refuse "A part of $PWD is a link."
