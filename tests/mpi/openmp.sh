#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# openmp.sh CASE FAMILY LAUNCHER SUMAC PROGRAM [LIBRARY]: large reductions by OpenMP's threads.
. "$(dirname "$0")/../launch.sh"
# Forces single_copy: slots are too small for threads, but the rules prefer them with more ranks
# than processors.
export SUMAC_THREADS_MIN=64K
export SUMAC_ALGO="allreduce:single_copy;reduce:single_copy;bcast:single_copy"

# Large reductions and packed data must have the same bits as with one thread, and the statistics
# must count how they were made. Each kind of call is made from each place, with 2 ranks or with 3.
openmp() {
  export OMP_NUM_THREADS=2 SUMAC_OWN_REGIONS=1 SUMAC_STATS="$stats"
  same_bits 2 local outside task
  same_bits 3 local master
  same_bits 2 allreduce master task
  same_bits 3 allreduce outside master
  same_bits 2 reduce outside task
  same_bits 3 reduce master
  same_bits 2 bcast master task
  same_bits 3 bcast outside
  same_bits 1 pack outside master task
  same_bits 1 unpack outside master task
  passes launch 60 1 "$program" pack each --multiple
  left_to_one_thread

  # The printed summary tells of them.
  SUMAC_STATS=1 SUMAC_THREADS=2 succeeds launch 60 2 "$program" local outside
  expect_err "a parallel region of its own"
  SUMAC_STATS=0 SUMAC_THREADS=both succeeds launch 60 2 "$program" local outside
  expect_err "warning[bad-value]: SUMAC_THREADS=both"
}

left_to_one_thread() {
  # By default Sumac opens no regions of its own.
  for kind in local allreduce pack; do
    SUMAC_OWN_REGIONS=0 job 2 2 $kind outside
    expect_folds none
    expect_figure outside -gt 0
  done
  SUMAC_OWN_REGIONS=0 job 2 2 local master
  expect_folds tasks

  # With as many ranks as processors, or more, threads would take processors from other ranks.
  job "$(nproc)" auto allreduce outside
  expect_folds none
  expect_figure one_thread -gt 0

  # Nonblocking operations, advanced by any thread or inside the MPI's progress, must open no
  # region.
  for where in outside master; do
    job 2 2 nonblocking $where
    expect_folds none
    expect_figure elsewhere -gt 0
  done

  # One rank has all processors to itself.
  [ "$(nproc)" -ge 2 ] || return 0
  job 1 auto local outside
  expect_folds region
}

# job RANKS THREADS KIND WHERE runs the program, and notes the hash of its results.
job() {
  export SUMAC_THREADS="$2"
  rm -f "$stats"
  passes launch 60 "$1" "$program" "$3" "$4"
  hash=$(grep '^hash ' "$out")
  [ -n "$hash" ] || fail "there is no hash"
}

# expect_folds tasks|region|none expects some folds of this kind, and none of the other.
expect_folds() {
  for name in tasks region; do
    if [ "$name" = "$1" ]; then
      expect_figure $name -gt 0
    else
      expect_figure $name = 0
    fi
  done
}

# same_bits RANKS KIND WHERE... expects the same with two threads as with one.
same_bits() {
  ranks_of_job=$1 kind=$2
  shift 2
  job "$ranks_of_job" off "$kind" outside
  off=$hash
  expect_folds none
  for place in "$@"; do
    job "$ranks_of_job" 2 "$kind" "$place"
    [ "$hash" = "$off" ] || fail "other bits"
    case $place in outside) expect_folds region ;; *) expect_folds tasks ;; esac
  done
}

# openmp_state [LIBRARY]: large reductions must not change a program's OpenMP state, with GCC's
# run-time library or with LIBRARY loaded in front of it.
openmp_state() {
  # There are more threads than processors, so they should not spin.
  export OMP_WAIT_POLICY=passive SUMAC_ALGO="allreduce:single_copy"
  for put_in_front in "" "$@"; do
    for each in 1:3 2:2 4:3; do
      keeps_state "${each%:*}" auto 1 local
      keeps_state "${each%:*}" 2 "${each#*:}" allreduce
    done
    # A forked child does not have Sumac's progress thread either.
    SUMAC_PROGRESS=thread keeps_state 2 2 2 allreduce
    # Regions that Sumac opens itself must not change settings.
    SUMAC_OWN_REGIONS=1 SUMAC_STATS="$stats" keeps_state 4 2 2 local settings
    expect_figure region -gt 0
  done
}

# keeps_state THREADS SUMAC_THREADS RANKS PROGRAM_ARGUMENTS... runs the program, which must pass.
keeps_state() {
  export OMP_NUM_THREADS="$1" SUMAC_THREADS="$2"
  ranks=$3
  shift 3
  passes launch_plain 60 "$ranks" env ${put_in_front:+LD_PRELOAD="$put_in_front"} \
    "$sumac" exec -- "$program" "$@"
}

run_job_case "$@"
