#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# user_abort_test.sh FAMILY LAUNCHER SUMAC PROGRAM: MPI_Abort in the function of a user-defined
# operation must end the job at once.
. "$(dirname "$0")/../preload/check.sh"
family=$1 launcher=$2 sumac=$3 program=$4
. "$(dirname "$0")/launch.sh"

for ranks in 2 3; do
  run launch 30 "$ranks" "$program" --abort
  [ "$status" != 0 ] || fail "the job ended well"
  [ "$status" != 124 ] || fail "the job hung"
  grep -q "came back" "$out" && fail "the reduction came back"
done
nothing_left || fail "something is left"
finish
