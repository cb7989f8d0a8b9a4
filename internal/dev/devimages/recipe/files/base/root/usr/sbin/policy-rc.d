#!/bin/sh
# Nothing that a package brings is started while it is installed.
exit 101
