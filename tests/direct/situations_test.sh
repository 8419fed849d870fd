#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# situations_test.sh CASE FAMILY LAUNCHER SUMAC PROGRAM RANKS: a case of situations.cc. Status 77
# where it cannot be tried.
case=$1 family=$2 launcher=$3 sumac=$4 program=$5 ranks=$6
tests=$(dirname "$0")/..
. "$tests/mpi/launch.sh"
export SUMAC_PROMOTE=eager UCX_MEM_EVENTS=no
output=$(mktemp)
trap 'rm -f "$output"' EXIT

launch 120 "$ranks" "$program" "$case" >"$output" 2>&1
status=$?
cat "$output"
nothing_left || exit 1
[ "$status" = 0 ] || exit 1
grep -q '^SKIPPED' "$output" && exit 77
grep -q '^passed: [1-9]' "$output"
