#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# disturbed_test.sh FAMILY LAUNCHER SUMAC PROGRAM DISTURB HOW PROGRAMS: random programs, all of
# whose results are checked, while DISTURB, a library in front of them, disturbs each rank.
. "$(dirname "$0")/../preload/check.sh"
family=$1 launcher=$2 sumac=$3 program=$4 disturb=$5 how=$6 programs=$7
. "$(dirname "$0")/../mpi/launch.sh"
export SUMAC_TEST_DISTURB="$how"

# disturbed RANKS ARGUMENTS...
disturbed() {
  ranks=$1
  shift
  run launch_plain 120 "$ranks" env LD_PRELOAD="$disturb" "$sumac" exec -- "$program" "$@"
  grep -q '^SKIPPED' "$out" && return
  expect_status 0
  expect_out 'passed: '
  expect_warnings 0
  times=$(grep -c "^disturbed $how: [1-9]" "$err")
  [ "$times" = "$ranks" ] || fail "$times ranks, not $ranks, were disturbed"
  grep "^disturbed" "$err"
}

disturbed 2 --first 500 --count "$programs" --calls 200
disturbed 3 --first 600 --count "$programs" --calls 100
disturbed 3 --first 700 --count "$programs" --calls 100 --threads 2
nothing_left || fail 'something is left'
finish
