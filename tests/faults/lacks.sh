#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# lacks.sh CASE FAMILY LAUNCHER SUMAC PROGRAM ARGUMENTS...: something is lacking. Jobs pass all the
# same. The cases are those of lacks.cc, and of protected.cc.
. "$(dirname "$0")/../launch.sh"

# lacks SECONDS RANKS CASE ARGUMENTS...: runs a case of lacks.cc, which must pass.
lacks() {
  time=$1 ranks=$2
  shift 2
  passes launch "$time" "$ranks" "$program" "$@"
  cat "$out"
}

# many COMMUNICATORS: so many are alive at once.
many() {
  for ranks in 2 3; do lacks 200 $ranks many "$1"; done
}

# The limit of files' sizes sinks to nothing.
file_limit() {
  mkdir "$scratch/trace"
  export SUMAC_STATS="$stats" SUMAC_TRACE="$scratch/trace"
  lacks 90 3 file_limit
  expect_err 'warning[stats-file]'
}

# One rank, or all, use up their file descriptors.
descriptors() {
  left=0
  for rank in 0 2 -1; do
    for few in 0 1 3; do
      lacks 60 3 descriptors $rank $few
      if grep -q '^0 of 4' "$out"; then
        left=$((left + 1))
        expect_err 'warning[handed-down]'
        expect_warnings 1
      else
        expect_out '4 of 4 communicators served'
        expect_warnings 0
      fi
    done
  done
  echo "in $left of 9 jobs communicators were left to the MPI"
  [ "$left" -gt 0 ] || fail 'descriptors were never lacking'
}

# The ranks are in a control group whose memory does not suffice for the communicators that the
# program makes: the kernel ends a rank, and with it the job. Within SUMAC_SHM_BUDGET the job
# passes.
memory_limit() {
  memory_group 300M
  SUMAC_SHM_BUDGET=16M passes in_little_memory 300
  SUMAC_SHM_BUDGET=4G ends in_little_memory 1500
  expect_no_line FAILED
  expect_line '[Ss]ignal 9|rank-lost|[Kk]illed'
}
in_little_memory() {
  launch_plain 60 3 sh -c "$in_group" "$group" "$sumac" exec -- "$program" many "$1"
}

# calls WAY SECONDS RANKS ARGUMENTS...: every STEP-th time, runs the program, whose calls must have
# the right results, and counts whether they were served in this way.
calls() {
  cases=$((cases + 1))
  [ $((cases % step)) = 0 ] || return 0
  way=$1 time=$2 ranks=$3
  shift 3
  run launch "$time" "$ranks" "$program" "$@"
  if grep -q "served by .*$way" "$out"; then
    jobs=$((jobs + 1))
  else
    echo "not served so: $*: $(grep 'served by' "$out")"
  fi
  expect_status 0
}
at_least() {
  echo "$jobs jobs"
  [ "$jobs" -ge $(($1 / step)) ] || fail "only $jobs jobs were served so"
}

# attach_lost STEP: cross-memory attach is refused in mid-run, on one rank or on all.
attach_lost() {
  step=$1 jobs=0 cases=0
  for collective in allreduce reduce bcast reduce_scatter allgather alltoall alltoallv; do
    for rank in 1 -1; do lost single_copy 3 $collective blocking $rank; done
  done
  for kind in nonblocking persistent; do
    for collective in allreduce bcast alltoallv; do lost single_copy 3 $collective $kind -1; done
  done
  # In levels, where the leaders do the work of others.
  export SUMAC_HIERARCHY=ranks:2,node
  for collective in allreduce reduce bcast; do lost passive 4 $collective blocking 0; done
  at_least 18
}
lost() {
  export SUMAC_ALGO="$3:$1"
  calls "$1" 40 "$2" attach_lost "$3" "$4" "$5"
}

# protected RANKS STEP: the kernel does not reach buffers, or processes, for another process.
protected() {
  all=$1 step=$2 jobs=0 cases=0 last=$(($1 - 1))
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
  at_least 60
}
try() {
  export SUMAC_ALGO="$1:single_copy"
  calls single_copy 60 "$all" "$@"
}

run_job_case "$@"
