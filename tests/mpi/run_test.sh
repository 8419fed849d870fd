#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# run_test.sh FAMILY LAUNCHER SUMAC SECONDS RANKS PROGRAM [ARGUMENTS]: one job that must print that
# it passed, and leave no process or file behind. Status 77 when the program was skipped. With
# SUMAC_TEST_LINKED=1 the program, which Sumac is linked behind, starts without it in front.
family=$1 launcher=$2 sumac=$3 time=$4 ranks=$5
shift 5
. "$(dirname "$0")/launch.sh"
output=$(mktemp)
trap 'rm -f "$output"' EXIT

if [ "${SUMAC_TEST_LINKED:-0}" = 1 ]; then
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
