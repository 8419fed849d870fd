#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# past_test.sh FAMILY LAUNCHER SUMAC PROGRAM LIBRARY: requests that a library completes past Sumac
# end, and one message says that nonblocking calls are left to the MPI.
family=$1 launcher=$2 sumac=$3 program=$4 library=$5
tests=$(dirname "$0")/..
. "$tests/mpi/launch.sh"
output=$(mktemp)
trap 'rm -f "$output"' EXIT
for ranks in 1 3; do
  launch 60 "$ranks" "$program" "$library" >"$output" 2>&1
  status=$?
  cat "$output"
  [ "$status" = 0 ] && grep -q '^passed: ' "$output" || exit 1
  [ "$(grep -c 'warning\[requests-pass-by\]' "$output")" = 1 ] || exit 1
done
nothing_left
