#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# attach_lost_test.sh FAMILY LAUNCHER SUMAC PROGRAM: cross-memory attach is refused in mid-run, on
# one rank or on all: the job ends with a message that says so, and no rank returns from a call with
# a wrong result before that.
. "$(dirname "$0")/../preload/check.sh"
family=$1 launcher=$2 sumac=$3 program=$4
. "$(dirname "$0")/../mpi/launch.sh"
jobs=0

# lost WAY RANKS COLLECTIVE KIND RANK: in calls that are served in a WAY.
lost() {
  way=$1 number=$2
  shift 2
  run launch 40 "$number" "$program" "$@"
  grep -q "served by .*$way" "$out" || {
    echo "not tried, $1 $2: $(grep 'served by' "$out")"
    return
  }
  jobs=$((jobs + 1))
  grep -q 'wrong result' "$out" "$err" && fail "a wrong result: $way, $*"
  grep -q 'out of time\|FAILED' "$err" "$out" && fail "ranks went on: $way, $*"
  # One rank may find that others do its share of the work.
  [ "$3" != -1 ] && [ "$status" = 0 ] && return
  [ "$status" != 0 ] && [ "$status" != 124 ] || fail "status $status"
  expect_err 'error[peer-memory]'
}

for collective in allreduce reduce bcast reduce_scatter allgather alltoall alltoallv; do
  export SUMAC_ALGO="$collective:single_copy"
  lost single_copy 3 $collective blocking 1
done
for collective in reduce bcast reduce_scatter allreduce; do
  export SUMAC_ALGO="$collective:single_copy"
  lost single_copy 3 $collective blocking -1
done
for kind in nonblocking persistent; do
  lost single_copy 3 allreduce $kind -1
done
# In levels, where the leaders do the work of others.
export SUMAC_HIERARCHY=ranks:2,node
for collective in allreduce reduce bcast; do
  export SUMAC_ALGO="$collective:passive"
  lost passive 4 $collective blocking 0
done
echo "$jobs jobs"
[ "$jobs" -ge 13 ] || fail "only $jobs jobs used cross-memory attach"
nothing_left || fail 'something is left'
finish
