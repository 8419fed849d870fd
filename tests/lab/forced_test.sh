#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# forced_test.sh FAMILY LAUNCHER SUMAC PRELOAD PROGRAM: forced algorithms over two hosts with two
# ranks each. Algorithms that work between hosts must run; for others one message must give the
# reason.
. "$(dirname "$0")/../preload/check.sh"
family=$1 launcher=$2 sumac=$3 mpich_preload=$4 program=$5
. "$(dirname "$0")/lab.sh"
make_lab 2+2

# forced ALGORITHMS [REFUSED...]: REFUSED are the items of the list that cannot run.
forced() {
  algorithms=$1
  shift
  run job 180 block env "SUMAC_ALGO=$algorithms" "$sumac" exec -- "$program"
  expect_status 0
  expect_out "passed: "
  for item in "$@"; do
    found=$(grep -cF "warning[forced]: SUMAC_ALGO=$item does not run on a communicator of 4" "$err")
    [ "$found" = 1 ] || fail "$found times, not once: $item"
  done
  expect_warnings $#
}

forced "allreduce:ring;reduce:knomial;bcast:chain"
forced "allreduce:multi_leader;reduce:levels;bcast:passive;barrier:levels"
forced "allreduce:all_ranks;reduce:all_ranks;bcast:all_ranks"
forced "allreduce:flat;allreduce:recursive_doubling"
forced "allreduce:single_copy;reduce:single_copy;bcast:single_copy;barrier:flat" \
  allreduce:single_copy reduce:single_copy bcast:single_copy barrier:flat
# An all-reduce over both hosts uses only a reduction and a broadcast within each host.
forced "allreduce:flat_slots;reduce:flat_slots;bcast:slots" allreduce:flat_slots
nothing_left || fail "something is left"
finish
