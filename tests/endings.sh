#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# endings.sh CASE FAMILY LAUNCHER SUMAC PROGRAM ARGUMENTS...: jobs that must end with an error, and
# by themselves; and jobs that do not go on.
tests=$(dirname "$0")
# shellcheck source=tests/launch.sh
. "$tests/launch.sh"

# MPI_Abort in the function of a user-defined operation ends the job at once.
user_abort() {
  for ranks in 2 3; do
    ends launch 30 "$ranks" "$program" --abort
    expect_no_line "came back"
  done
}

# What goes wrong with a GPU's memory on one rank ends the job, with a message.
device_errors() {
  for each in device-copy:fails device-changed:changes; do
    ends launch 40 3 "$program" "${each#*:}"
    expect_line "error\[${each%:*}\]"
  done
}

# faulty "WHICH:TEXT"...: of each fault that the program can have, its job must fail, with the text.
faulty() {
  passes launch 120 2 "$program" none
  for each in "$@"; do
    ends launch 120 2 "$program" "${each%%:*}"
    expect_line "${each#*:}"
  done
}

# An operation on a type that it cannot reduce ends the job with a message. With Sumac switched off,
# creating an operation fails.
refused() {
  refuse launch 1 undefined band MPI_FLOAT
  refuse launch 2 struct sum "a mixture"
  refuse launch_plain 1 struct sum "a mixture"
  refuse launch_plain 2 undefined band MPI_FLOAT

  succeeds launch 30 1 "$program" create
  expect_out "another error, an operation"
  expect_silence
  export SUMAC_DISABLE=1
  for how in launch launch_plain; do
    succeeds $how 30 1 "$program" create
    expect_out "MPI_ERR_OTHER, no operation"
    expect_warnings 1 "sumac: warning[not-active]: sumac_op_create returns an error"
  done
}
# refuse HOW RANKS WHAT KIND TYPE. The ranks write to a file, because a launcher may lose output of
# a job that it ends.
refuse() {
  said=$scratch/said
  : >"$said"
  run "$1" 30 "$2" sh -c "exec \"$program\" $3 2>>\"$said\""
  grep -qF "sumac: error[op-type]: an operation of sumac_op_create ($4) cannot reduce $5" "$said" ||
    fail "no message, but: $(cat "$said")"
  expect_ended
  expect_no_line "came back"
}

# calls_differ [--all]: calls that differ between ranks end the job with a line that names both. By
# default each kind of call is tried with the one before it, with --all with every other. The
# numbers of ranks take turns: RANK_COUNTS, "2 3". WITHOUT: a call that the MPI serves. Every
# STEP-th pair is tried (1). Every second job has SUMAC_DEBUG=off, which must not hide the line.
calls_differ() {
  all=${1-} previous='' pairs=0
  set -- ${RANK_COUNTS:-2 3}
  calls=$("$program" | grep -vx "${WITHOUT:-}")
  for one in $calls; do
    for other in ${all:+$calls} $previous; do
      [ "$one" != "$other" ] || continue
      pairs=$((pairs + 1))
      [ $((pairs % ${STEP:-1})) = 0 ] || continue
      debug=off
      [ "${SUMAC_DEBUG:-}" != off ] || debug=warn
      export SUMAC_DEBUG=$debug
      ends launch 40 "$1" "$program" "$one" "$other"
      calls_mpi='rank [0-9]+ calls MPI_[A-Z]'
      expect_line "error\[calls-differ\]: $calls_mpi.*; $calls_mpi"
      set -- "$2" "$1"
    done
    previous=$one
  done
}

# The last of three ranks keeps the others waiting. One report for the job says where everybody is;
# so does `sumac doctor` meanwhile.
stuck() {
  export SUMAC_HANG_SECONDS=3
  wait_for sleeps
  expect_both 'sleeps and is in no collective'
  expect_both 'call 4 on rows of 3 ranks, flat_lines; not arrived there: rank 2'
  wait_for stopped
  expect_both 'is stopped (SIGSTOP) and is in no collective'
  # By single copy the others would do the stopped rank's share.
  export SUMAC_CMA=off
  wait_for begun
  unset SUMAC_CMA
  expect_both 'rank 2 (has begun it, and does not go on)'

  # Nobody is stuck, so nobody reports, and nobody is found afterwards.
  succeeds launch 20 2 "$program" sleeps /
  expect_warnings 0
  run "$sumac" doctor
  [ "$status" = 3 ] || expect_no_line rows
  run "$sumac" doctor 1x
  [ "$status" = 3 ] || expect_status 2 # 3: no Python that has what is needed
}

# wait_for HOW: runs the job, and asks from outside once it has reported.
wait_for() {
  rm -f "$scratch/go" "$err" # which the job makes anew
  launch 40 3 "$program" "$1" "$scratch/go" >"$out" 2>"$err" &
  job=$!
  wait_until 25 grep -qs 'rank 2 (process' "$err"
  "$sumac" doctor "$job" >"$scratch/doctor" 2>&1
  doctor=$?
  : >"$scratch/go"
  wait "$job"
  status=$?
  command_line="stuck $1"
  expect_passed
  expect_once 'warning[hang]: rank 0 of 3 has waited 3 s in allreduce; not arrived: rank 2'
  expect_once 'warning[hang]'
  expect_err 'rank 0, 1 (process '
  expect_err ' s in allreduce of '
  expect_err ' on rows of 3 ranks, '
}

# expect_both TEXT expects it in the report, and in that of sumac doctor.
expect_both() {
  expect_err "$1"
  [ "$doctor" = 3 ] && return # no Python that has what is needed
  [ "$doctor" = 0 ] || fail "sumac doctor ends with $doctor: $(cat "$scratch/doctor")"
  grep -qF -- "$1" "$scratch/doctor" || fail "sumac doctor lacks '$1': $(cat "$scratch/doctor")"
}

run_job_case "$@"
