#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# openmp_test.sh FAMILY LAUNCHER SUMAC PROGRAM: large reductions by OpenMP's threads and by one have
# the same bits, and the statistics tell how they were done.
. "$(dirname "$0")/../preload/check.sh"
family=$1 launcher=$2 sumac=$3 program=$4
. "$(dirname "$0")/launch.sh"
export OMP_NUM_THREADS=2 SUMAC_THREADS_MIN=64K SUMAC_OWN_REGIONS=1 SUMAC_STATS="$scratch/stats.json"
# Slots are too small for threads, and the rules prefer them for more ranks than processors.
export SUMAC_ALGO="allreduce:single_copy;reduce:single_copy"

# folds NAME: how many large folds there were of that kind.
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

# expect_folds tasks|region|none: some that way, and none the other.
expect_folds() {
  for name in tasks region; do
    if [ "$name" = "$1" ]; then
      [ "$(folds $name)" -gt 0 ] || fail "no $name: $ranks $SUMAC_THREADS $kind $where"
    else
      [ "$(folds $name)" = 0 ] || fail "$name: $ranks $SUMAC_THREADS $kind $where"
    fi
  done
}

for ranks in 2 3; do
  for kind in local allreduce reduce; do
    job $ranks off $kind outside
    off=$hash
    expect_folds none
    for where in outside master $([ $ranks = 2 ] && echo task); do
      job $ranks 2 $kind $where
      [ "$hash" = "$off" ] || fail "other bits: $ranks $kind $where"
      case $where in outside) expect_folds region ;; *) expect_folds tasks ;; esac
    done
  done
done

# By default the only regions are the program's.
for kind in local allreduce; do
  SUMAC_OWN_REGIONS=0 job 2 2 $kind outside
  expect_folds none
  [ "$(folds outside)" -gt 0 ] || fail "not counted as called outside"
done
SUMAC_OWN_REGIONS=0 job 2 2 local master
expect_folds tasks

# More ranks than processors, or as many: threads would take them from each other.
job "$(nproc)" auto allreduce outside
expect_folds none
[ "$(folds one_thread)" -gt 0 ] || fail "not counted as one thread's"

# What goes on in whatever thread looks, and within the MPI's progress, opens no region.
for where in outside master; do
  job 2 2 nonblocking $where
  expect_folds none
  [ "$(folds elsewhere)" -gt 0 ] || fail "not counted as done elsewhere"
done

# One rank has all processors for itself.
if [ "$(nproc)" -ge 2 ]; then
  job 1 auto local outside
  expect_folds region
fi

# What is printed.
SUMAC_STATS=1 SUMAC_THREADS=2 run launch 60 2 "$program" local outside
expect_status 0
expect_err "a parallel region of its own"
SUMAC_STATS=0 SUMAC_THREADS=both run launch 60 2 "$program" local outside
expect_status 0
expect_err "warning[bad-value]: SUMAC_THREADS=both"
nothing_left || fail "something is left"
finish
