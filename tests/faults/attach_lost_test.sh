#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# attach_lost_test.sh FAMILY LAUNCHER SUMAC PROGRAM: cross-memory attach is refused in mid-run, on
# one rank or on all: the job ends with a message that says so.
. "$(dirname "$0")/../preload/check.sh"
family=$1 launcher=$2 sumac=$3 program=$4
. "$(dirname "$0")/../mpi/launch.sh"
jobs=0

# lost COLLECTIVE KIND RANK
lost() {
  run launch 40 3 "$program" "$@"
  grep -q 'served by .*single_copy' "$out" || {
    echo "not tried, $1 $2: $(grep 'served by' "$out")"
    return
  }
  jobs=$((jobs + 1))
  grep -q 'out of time\|FAILED' "$err" "$out" && fail 'ranks went on'
  # One rank may find that others do its share of the work.
  [ "$3" != -1 ] && [ "$status" = 0 ] && ! grep -q 'wrong result' "$out" && return
  [ "$status" != 0 ] && [ "$status" != 124 ] || fail "status $status"
  expect_err 'error[peer-memory]'
}

for collective in allreduce reduce bcast reduce_scatter allgather alltoall; do
  export SUMAC_ALGO="$collective:single_copy"
  lost $collective blocking -1
done
export SUMAC_ALGO=allreduce:single_copy
lost allreduce nonblocking -1
lost allreduce blocking 0
lost allreduce blocking 2
echo "$jobs jobs"
[ "$jobs" -ge 6 ] || fail "only $jobs jobs used cross-memory attach"
nothing_left || fail 'something is left'
finish
