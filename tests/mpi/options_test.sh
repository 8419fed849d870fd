#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# options_test.sh FAMILY LAUNCHER SUMAC PROGRAM: ranks with different options. For every option on
# which ranks must agree, one at a time: right results and one warning per job.
. "$(dirname "$0")/../preload/check.sh"
family=$1 launcher=$2 sumac=$3 program=$4
. "$(dirname "$0")/launch.sh"

for setting in COLLS=^allreduce COLLS=barrier ALGO=allreduce:split_slots CMA=off SHM_BUDGET=1M \
  BUILD_AFTER=5 BUILD_AFTER=1000 DEVICE=host ADAPT=all; do
  run launch 20 2 "$program" --differ --only 0 "SUMAC_$setting"
  expect_status 0
  expect_out "passed: "
  expect_warnings 1
  expect_err "warning[options-differ]: rank 1 has "
done

# The same in communicators in which not all tell all others who they are.
export SUMAC_TELL_ALL=1
for setting in COLLS=barrier CMA=off; do
  run launch 20 3 "$program" --differ --only 0 "SUMAC_$setting"
  expect_status 0
  expect_out "passed: "
  expect_warnings 1
  expect_err "warning[options-differ]: rank 1 has "
done
unset SUMAC_TELL_ALL

# Options that each rank may choose for itself.
run launch 20 3 "$program" --differ --only 0 SUMAC_SIMD=sse2 SUMAC_SPIN=100 SUMAC_HANG_SECONDS=7 \
  SUMAC_THREADS=off SUMAC_THREADS_MIN=4K SUMAC_TASK_PRIORITY=1 SUMAC_COLLS=barrier
expect_warnings 1
nothing_left || fail "something is left"
finish
