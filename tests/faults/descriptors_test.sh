#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# descriptors_test.sh FAMILY LAUNCHER SUMAC PROGRAM: one rank, or all, use up their file
# descriptors.
. "$(dirname "$0")/../preload/check.sh"
family=$1 launcher=$2 sumac=$3 program=$4
. "$(dirname "$0")/../mpi/launch.sh"
left=0
for rank in 0 2 -1; do
  for few in 0 1 3; do
    run launch 60 3 "$program" descriptors $rank $few
    expect_status 0
    expect_out 'passed: '
    if grep -q '^0 of 4' "$out"; then
      left=$((left + 1))
      expect_err 'warning[handed-down]'
      expect_warnings 1
    else
      expect_out '4 of 4 communicators served'
      expect_warnings 0
    fi
  done
done
echo "in $left of 9 jobs communicators were left to the MPI"
[ "$left" -gt 0 ] || fail 'descriptors were never lacking'
nothing_left || fail 'something is left'
finish
