#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# stuck_test.sh FAMILY LAUNCHER SUMAC PROGRAM: jobs of three ranks, the last of which keeps the
# others waiting. One report for the job says where everybody is; so does `sumac doctor` meanwhile.
. "$(dirname "$0")/../preload/check.sh"
family=$1 launcher=$2 sumac=$3 program=$4
. "$(dirname "$0")/launch.sh"
export SUMAC_HANG_SECONDS=3

# stuck HOW: runs the job, and asks from outside once it has reported.
stuck() {
  rm -f "$scratch/go" "$err"  # which the job makes anew
  launch 40 3 "$program" "$1" "$scratch/go" >"$out" 2>"$err" &
  job=$!
  for _ in $(seq 250); do
    grep -qs 'rank 2 (process' "$err" && break
    sleep 0.1
  done
  "$sumac" doctor "$job" >"$scratch/doctor" 2>&1
  doctor=$?
  : >"$scratch/go"
  wait "$job"
  status=$?
  command_line="stuck $1"
  expect_status 0
  expect_out 'passed: '
  told='warning\[hang\]: rank 0 of 3 has waited 3 s in allreduce; not arrived: rank 2'
  reports=$(grep -c "$told" "$err")
  [ "$reports" = 1 ] || fail "$reports reports by rank 0, not 1"
  [ "$(grep -c 'warning\[hang\]' "$err")" = 1 ] || fail "others report, too"
  expect_err 'rank 0, 1 (process '
  expect_err ' s in allreduce of '
  expect_err ' on rows of 3 ranks, '
}

# expect_both TEXT: in the report, and in that of sumac doctor.
expect_both() {
  expect_err "$1"
  [ "$doctor" = 3 ] && return  # no Python that has what is needed
  [ "$doctor" = 0 ] || fail "sumac doctor ends with $doctor: $(cat "$scratch/doctor")"
  grep -qF -- "$1" "$scratch/doctor" || fail "sumac doctor lacks '$1': $(cat "$scratch/doctor")"
}

stuck sleeps
expect_both 'sleeps and is in no collective'
expect_both 'call 4 on rows of 3 ranks, flat_lines; not arrived there: rank 2'
stuck stopped
expect_both 'is stopped (SIGSTOP) and is in no collective'
# By single copy the others would do the stopped rank's share.
export SUMAC_CMA=off
stuck begun
unset SUMAC_CMA
expect_both 'rank 2 (has begun it, and does not go on)'

# Nobody is stuck, so nobody reports, and nobody is found afterwards.
run launch 20 2 "$program" sleeps /
expect_status 0
expect_warnings 0
"$sumac" doctor >"$scratch/doctor" 2>&1
doctor=$?
if [ "$doctor" != 3 ] && grep -q "rows" "$scratch/doctor"; then fail "$(cat "$scratch/doctor")"; fi
"$sumac" doctor 1x >"$scratch/doctor" 2>&1
doctor=$?
[ "$doctor" = 2 ] || [ "$doctor" = 3 ] || fail "sumac doctor 1x ends with $doctor"
nothing_left || fail "something is left"
finish
