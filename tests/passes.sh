#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# passes.sh CASE FAMILY LAUNCHER SUMAC PROGRAM ARGUMENTS...: one job must print that it passed, and
# leave no process or file behind. Its status is that of the job, or 77 when the program was
# skipped.
tests=$(dirname "$0") settings_are_the_tests=yes
# shellcheck source=tests/lab/lab.sh
. "$tests/lab/lab.sh"

passed() {
  show
  nothing_left || exit 1
  [ "$status" = 0 ] || exit "$status"
  ! skipped || exit 77
  expect_passed
}

# on_host SECONDS RANKS ARGUMENTS...
on_host() {
  time=$1 ranks=$2
  shift 2
  run launch "$time" "$ranks" "$program" "$@"
  passed
}

# linked SECONDS RANKS ARGUMENTS...: Sumac is linked behind the program, and not put in front of it.
linked() {
  time=$1 ranks=$2
  shift 2
  run launch_plain "$time" "$ranks" "$program" "$@" --linked
  passed
}

# in_lab SECONDS LAYOUT PRELOAD PLACEMENT EXPECTED ARGUMENTS...: over several hosts. EXPECTED:
# collective:path,... that rank 0 must have used; a path may be a pattern.
in_lab() {
  time=$1 placement=$4 expected=$5
  unset SUMAC_DISABLE SUMAC_DEBUG LD_PRELOAD
  make_lab "$2" "$3"
  shift 5
  export SUMAC_STATS="$stats"
  run job "$time" "$placement" "$sumac" exec -- "$program" "$@"
  passed
  for path in $(echo "$expected" | tr , ' '); do
    expect_path "${path%:*}" "${path#*:}"
  done
}

run_job_case "$@"
