#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# hosts.sh CASE FAMILY LAUNCHER SUMAC PROGRAM PRELOAD ARGUMENTS...: how calls over several hosts are
# served.
. "$(dirname "$0")/lab.sh"

# Algorithms that work between hosts must run where they are forced; for others one message must
# give the reason.
forced() {
  make_lab 2+2 "$1"
  force "allreduce:ring;reduce:knomial;bcast:chain"
  force "allreduce:multi_leader;reduce:levels;bcast:passive;barrier:levels"
  force "allreduce:all_ranks;reduce:all_ranks;bcast:all_ranks"
  force "allreduce:flat;allreduce:recursive_doubling"
  force "allreduce:single_copy;reduce:single_copy;bcast:single_copy;barrier:flat" \
    allreduce:single_copy reduce:single_copy bcast:single_copy barrier:flat
  # An all-reduce over both hosts uses only a reduction and a broadcast within each host.
  force "allreduce:flat_slots;reduce:flat_slots;bcast:slots" allreduce:flat_slots
}

# force ALGORITHMS [REFUSED...]: REFUSED are the items of the list that cannot run.
force() {
  algorithms=$1
  shift
  passes job 180 block env "SUMAC_ALGO=$algorithms" "$sumac" exec -- "$program"
  for item in "$@"; do
    expect_once "warning[forced]: SUMAC_ALGO=$item does not run on a communicator of 4"
  done
  expect_warnings $#
}

# shm PRELOAD PROBE: within a budget that is too small calls are handed down on all ranks for one
# reason, with right results. On hosts whose /dev/shm is small, or not writable, they are served.
shm() {
  make_lab 3+3 "$1"
  probe=$2
  SUMAC_SHM_BUDGET=64K passes job 180 block "$sumac" exec -- "$program" 'beyond SUMAC_SHM_BUDGET'
  expect_warnings 0

  # With these settings the MPI itself needs little shared memory, or none.
  export OMPI_MCA_btl_vader_backing_directory=/tmp MPIR_CVAR_ENABLE_INTRANODE_COLLECTIVES=0
  for host in h0 h1; do
    for change in size=4096k size=64k ro; do
      "$lab" exec $host mount -o "remount,$change" /dev/shm || skip 'nothing can be mounted'
      run job 180 block "$probe"
      if [ "$status" != 0 ]; then
        echo "not tried, the MPI itself cannot live there: $host, $change"
      else
        served
      fi
      "$lab" exec $host mount -o "remount,rw,size=50%" /dev/shm || exit 1
    done
  done
}

served() {
  for algorithm in levels multi_leader; do
    SUMAC_ALGO=allreduce:$algorithm succeeds job 180 turns "$sumac" exec -- "$probe"
    expect_out "wrong 0"
    expect_out "allreduce 1048576 $algorithm"
    expect_warnings 0
  done
}

# plan PRELOAD JOBS SEED: the levels, stages, algorithms and chunks that 'sumac plan' prints for
# random calls must be those in their traces. Each job makes five calls.
plan() {
  make_lab 1+1+1+1 "$1"
  shapes_py=$tests/lab/plan_shapes.py trace=$scratch/trace
  python3 "$shapes_py" draw "$2" "$3" >"$scratch/jobs"
  [ "$(wc -l <"$scratch/jobs")" = "$2" ] || fail "not $2 jobs were drawn"
  while read -r hosts ranks hierarchy forced shapes <&3; do
    rm -rf "$trace"
    mkdir "$trace"
    [ "$forced" = - ] && algo='' || algo=$forced
    # Shapes are split into words.
    succeeds job 120 block env "SUMAC_TRACE=$trace" "SUMAC_HIERARCHY=$hierarchy" \
      "SUMAC_ALGO=$algo" "$sumac" exec -- "$program" $shapes
    succeeds python3 "$shapes_py" compare "$sumac" "$trace" "$family" "$hosts" "$ranks" \
      "$hierarchy" "$forced" $shapes
    cat "$out"
  done 3<"$scratch/jobs"
}

run_job_case "$@"
