#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# openmp_state_test.sh FAMILY LAUNCHER SUMAC PROGRAM [LIBRARY]: large reductions must not change a
# program's OpenMP state, with GCC's run-time library or with LIBRARY loaded in front of it.
. "$(dirname "$0")/../preload/check.sh"
family=$1 launcher=$2 sumac=$3 program=$4 library=$5
. "$(dirname "$0")/launch.sh"
# There are more threads than processors, so they should not spin.
export SUMAC_THREADS_MIN=64K OMP_WAIT_POLICY=passive
# Forces single_copy: slots are too small for threads, but the rules prefer them with more ranks
# than processors.
export SUMAC_ALGO="allreduce:single_copy"

# job THREADS SUMAC_THREADS RANKS PROGRAM_ARGUMENTS...
job() {
  export OMP_NUM_THREADS="$1" SUMAC_THREADS="$2"
  ranks=$3
  shift 3
  run launch_plain 60 "$ranks" env ${put_in_front:+LD_PRELOAD="$put_in_front"} \
    "$sumac" exec -- "$program" "$@"
  expect_status 0
  expect_out "passed: "
}

for put_in_front in "" $library; do
  for each in 1:3 2:2 4:3; do
    job "${each%:*}" auto 1 local
    job "${each%:*}" 2 "${each#*:}" allreduce
  done
  # A forked child does not have Sumac's progress thread either.
  SUMAC_PROGRESS=thread job 2 2 2 allreduce
  # Regions that Sumac opens itself must not change settings.
  SUMAC_OWN_REGIONS=1 SUMAC_STATS="$scratch/stats.json" job 4 2 2 local settings
  grep -q '"region": [1-9]' "$scratch/stats.json" || fail "no region of Sumac's own"
done
nothing_left || fail "something is left"
finish
