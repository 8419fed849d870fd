#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# by_host.sh HOST NAME=VALUE COMMAND...: executes the command, with the variable set on this host
# only.
host=$1 setting=$2
shift 2
[ "$(hostname)" = "$host" ] || exec "$@"
exec env "$setting" "$@"
