#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# direct_killed_test.sh FAMILY LAUNCHER SUMAC PROGRAM: a rank is killed while its buffers are mapped
# by the others. The job must end by itself, and leave nothing. One that is stopped for a while
# harms nothing.
family=$1 launcher=$2 sumac=$3 program=$4
. "$(dirname "$0")/launch.sh"
output=$(mktemp)
trap 'rm -f "$output"' EXIT

launch 60 3 "$program" kill >"$output" 2>&1
status=$?
cat "$output"
{ [ "$status" != 0 ] && [ "$status" != 124 ]; } || { echo "FAILED: status $status" && exit 1; }
grep -q '^direct: ' "$output" || { echo 'FAILED: it did not come so far' && exit 1; }
# That it has run out of time is the program's own message.
grep -q 'out of time' "$output" && exit 1
launch 60 3 "$program" stop >"$output" 2>&1
status=$?
cat "$output"
[ "$status" = 0 ] || exit 1
nothing_left || exit 1
grep -q '^direct: 0$' "$output" && echo 'SKIPPED: nothing is promoted here' && exit 77
grep -q '^passed: [1-9]' "$output"
