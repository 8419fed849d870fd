#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# refused_test.sh FAMILY LAUNCHER SUMAC PROGRAM: an operation on a type that it cannot reduce must
# end the job with a message. With Sumac switched off, creating an operation must fail.
. "$(dirname "$0")/../preload/check.sh"
family=$1 launcher=$2 sumac=$3 program=$4
. "$(dirname "$0")/../mpi/launch.sh"

# refused HOW RANKS WHAT KIND TYPE. The ranks write to a file, because a launcher may lose output of
# a job that it ends.
refused() {
  said=$scratch/said
  : >"$said"
  run "$1" 30 "$2" sh -c "exec \"$program\" $3 2>>\"$said\""
  grep -qF "sumac: error[op-type]: an operation of sumac_op_create ($4) cannot reduce $5" "$said" ||
    fail "no message, but: $(cat "$said")"
  [ "$status" != 0 ] || fail "the job ended well"
  [ "$status" != 124 ] || fail "the job hung"
  grep -q "came back" "$out" && fail "$3 was reduced"
}

refused launch 1 undefined band MPI_FLOAT
refused launch 2 struct sum "a mixture"
refused launch_plain 1 struct sum "a mixture"
refused launch_plain 2 undefined band MPI_FLOAT

run launch 30 1 "$program" create
expect_status 0
expect_out "another error, an operation"
expect_silence
export SUMAC_DISABLE=1
for how in launch launch_plain; do
  run $how 30 1 "$program" create
  expect_status 0
  expect_out "MPI_ERR_OTHER, no operation"
  expect_warnings 1
  expect_err "sumac: warning[not-active]: sumac_op_create returns an error"
done
nothing_left || fail "something is left"
finish
