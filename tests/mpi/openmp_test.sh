#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# openmp_test.sh FAMILY LAUNCHER SUMAC PROGRAM: with OpenMP's threads, large reductions and packed
# data must have the same bits as with one thread, and the statistics must count how they were made.
# Each kind of call is made from each place, with 2 ranks or with 3.
. "$(dirname "$0")/../preload/check.sh"
family=$1 launcher=$2 sumac=$3 program=$4
. "$(dirname "$0")/launch.sh"
export OMP_NUM_THREADS=2 SUMAC_THREADS_MIN=64K SUMAC_OWN_REGIONS=1 SUMAC_STATS="$scratch/stats.json"
# Forces single_copy: slots are too small for threads, but the rules prefer them with more ranks
# than processors.
export SUMAC_ALGO="allreduce:single_copy;reduce:single_copy;bcast:single_copy"

# folds NAME: the number of large folds of this kind in the statistics.
folds() { sed -n "s/.*\"$1\": \([0-9]*\).*/\1/p" "$SUMAC_STATS"; }

# job RANKS THREADS KIND WHERE
job() {
  ranks=$1 kind=$3 where=$4
  export SUMAC_THREADS="$2"
  rm -f "$SUMAC_STATS"
  run launch 60 "$ranks" "$program" "$kind" "$where"
  expect_status 0
  expect_out "passed: "
  hash=$(grep '^hash ' "$out")
  [ -n "$hash" ] || fail "no hash: $ranks $SUMAC_THREADS $kind $where"
}

# expect_folds tasks|region|none: some folds of this kind, and none of the other.
expect_folds() {
  for name in tasks region; do
    if [ "$name" = "$1" ]; then
      [ "$(folds $name)" -gt 0 ] || fail "no $name: $ranks $SUMAC_THREADS $kind $where"
    else
      [ "$(folds $name)" = 0 ] || fail "$name: $ranks $SUMAC_THREADS $kind $where"
    fi
  done
}

# same_bits RANKS KIND WHERE...: with two threads as with one.
same_bits() {
  ranks=$1 kind=$2
  shift 2
  job "$ranks" off "$kind" outside
  off=$hash
  expect_folds none
  for place in "$@"; do
    job "$ranks" 2 "$kind" "$place"
    [ "$hash" = "$off" ] || fail "other bits: $ranks $kind $place"
    case $place in outside) expect_folds region ;; *) expect_folds tasks ;; esac
  done
}

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

run launch 60 1 "$program" pack each --multiple
expect_status 0
expect_out "passed: "

# By default Sumac opens no regions of its own.
for kind in local allreduce pack; do
  SUMAC_OWN_REGIONS=0 job 2 2 $kind outside
  expect_folds none
  [ "$(folds outside)" -gt 0 ] || fail "not counted as called outside"
done
SUMAC_OWN_REGIONS=0 job 2 2 local master
expect_folds tasks

# With as many ranks as processors, or more, threads would take processors from other ranks.
job "$(nproc)" auto allreduce outside
expect_folds none
[ "$(folds one_thread)" -gt 0 ] || fail "not counted as one thread's"

# Nonblocking operations, advanced by any thread or inside the MPI's progress, must open no region.
for where in outside master; do
  job 2 2 nonblocking $where
  expect_folds none
  [ "$(folds elsewhere)" -gt 0 ] || fail "not counted as done elsewhere"
done

# One rank has all processors to itself.
if [ "$(nproc)" -ge 2 ]; then
  job 1 auto local outside
  expect_folds region
fi

# The printed summary.
SUMAC_STATS=1 SUMAC_THREADS=2 run launch 60 2 "$program" local outside
expect_status 0
expect_err "a parallel region of its own"
SUMAC_STATS=0 SUMAC_THREADS=both run launch 60 2 "$program" local outside
expect_status 0
expect_err "warning[bad-value]: SUMAC_THREADS=both"
nothing_left || fail "something is left"
finish
