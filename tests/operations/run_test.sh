#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# run_test.sh linked|preloaded FAMILY LAUNCHER SUMAC SECONDS RANKS PROGRAM [ARGUMENTS]: one job that
# must print that it passed, and leave no process or file behind. Status 77 when the program was
# skipped.
how=$1 family=$2 launcher=$3 sumac=$4 time=$5 ranks=$6
shift 6
. "$(dirname "$0")/../mpi/launch.sh"
output=$(mktemp)
trap 'rm -f "$output"' EXIT

if [ "$how" = linked ]; then
  launch_plain "$time" "$ranks" "$@" --linked >"$output"
else
  launch "$time" "$ranks" "$@" >"$output"
fi
status=$?
cat "$output"
nothing_left || exit 1
[ "$status" = 0 ] || exit "$status"
grep -q '^SKIPPED' "$output" && exit 77
grep -q '^passed: [1-9]' "$output"
