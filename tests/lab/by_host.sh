#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# by_host.sh HOST NAME=VALUE COMMAND...: becomes the command; on that host the variable is set.
host=$1 setting=$2
shift 2
[ "$(hostname)" = "$host" ] || exec "$@"
exec env "$setting" "$@"
