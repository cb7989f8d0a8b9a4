# shellcheck shell=sh
# Finds the clone that contains this directory. fork.sh and forge.sh read this file.
#
# A branch can bring a directory that git takes for a repository of its own, with its own
# settings and branches. No branch can bring ".git", so git gets the directory that has it.
clone=$(pwd -P)
prefix=''
while [ ! -e "$clone/.git" ]; do
  if [ "$clone" = / ]; then
    echo "$(pwd -P) is in no clone of git." >&2
    exit 1
  fi
  prefix=${clone##*/}/$prefix
  clone=$(dirname "$clone")
done
