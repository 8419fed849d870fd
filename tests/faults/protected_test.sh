#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# protected_test.sh FAMILY LAUNCHER SUMAC PROGRAM RANKS STEP: buffers, or processes, that the kernel
# does not reach for another process: every call has the right result. Every STEP-th case is tried.
. "$(dirname "$0")/../preload/check.sh"
family=$1 launcher=$2 sumac=$3 program=$4 ranks=$5 step=$6
. "$(dirname "$0")/../mpi/launch.sh"
jobs=0 cases=0

# try COLLECTIVE KIND WHAT RANK [in_place]
try() {
  cases=$((cases + 1))
  [ $((cases % step)) = 0 ] || return 0
  export SUMAC_ALGO="$1:single_copy"
  run launch 60 "$ranks" "$program" "$@"
  [ "$status" = 0 ] || fail "status $status: $*"
  grep -q "served by .*single_copy" "$out" && jobs=$((jobs + 1))
}

last=$((ranks - 1))
for what in written read secret thread; do
  for collective in allreduce reduce bcast reduce_scatter allgather alltoall alltoallv; do
    try $collective blocking $what $last
  done
  for kind in blocking nonblocking persistent; do
    try allreduce $kind $what -1
    try allreduce $kind $what $last in_place
    try reduce $kind $what 0 in_place
  done
  for kind in nonblocking persistent; do
    try bcast $kind $what -1
    try alltoallv $kind $what $last
  done
done
echo "$jobs jobs"
[ "$jobs" -ge $((60 / step)) ] || fail "only $jobs jobs were served by single copy"
nothing_left || fail 'something is left'
finish
