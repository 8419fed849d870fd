#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# attach_lost_test.sh FAMILY LAUNCHER SUMAC PROGRAM STEP: cross-memory attach is refused in mid-run,
# on one rank or on all: every call has the right result, and the job passes. Every STEP-th case is
# tried.
. "$(dirname "$0")/../preload/check.sh"
family=$1 launcher=$2 sumac=$3 program=$4 step=$5
. "$(dirname "$0")/../mpi/launch.sh"
jobs=0 cases=0

# lost WAY RANKS COLLECTIVE KIND RANK: in calls that are served in a WAY.
lost() {
  cases=$((cases + 1))
  [ $((cases % step)) = 0 ] || return 0
  way=$1 number=$2
  shift 2
  run launch 40 "$number" "$program" "$1" "$2" refused "$3"
  grep -q "served by .*$way" "$out" || {
    echo "not tried, $1 $2: $(grep 'served by' "$out")"
    return
  }
  jobs=$((jobs + 1))
  [ "$status" = 0 ] || fail "status $status: $way, $*"
}

for collective in allreduce reduce bcast reduce_scatter allgather alltoall alltoallv; do
  export SUMAC_ALGO="$collective:single_copy"
  for rank in 1 -1; do lost single_copy 3 $collective blocking $rank; done
done
for kind in nonblocking persistent; do
  for collective in allreduce bcast alltoallv; do
    export SUMAC_ALGO="$collective:single_copy"
    lost single_copy 3 $collective $kind -1
  done
done
# In levels, where the leaders do the work of others.
export SUMAC_HIERARCHY=ranks:2,node
for collective in allreduce reduce bcast; do
  export SUMAC_ALGO="$collective:passive"
  lost passive 4 $collective blocking 0
done
echo "$jobs jobs"
[ "$jobs" -ge $((18 / step)) ] || fail "only $jobs jobs used cross-memory attach"
nothing_left || fail 'something is left'
finish
