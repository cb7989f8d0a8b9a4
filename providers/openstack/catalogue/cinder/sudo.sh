#!/bin/sh
# Runs a command as the user of the pod. Cinder would take a file over before it reads it, and give it back
# to Nova afterwards: only root can, and everybody may read the files of volumes.
case $1:$3 in
  cinder-rootwrap:chown) ;;
  *) exec "$@" ;;
esac
