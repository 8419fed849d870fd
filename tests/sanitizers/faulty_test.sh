#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# faulty_test.sh FAMILY LAUNCHER SUMAC PROGRAM "WHICH:TEXT"...: of each fault that the program can
# have, its job must fail, with the text.
. "$(dirname "$0")/../preload/check.sh"
family=$1 launcher=$2 sumac=$3 program=$4
shift 4
. "$(dirname "$0")/../mpi/launch.sh"
run launch 120 2 "$program" none
expect_status 0
expect_out 'passed: '
for each in "$@"; do
  run launch 120 2 "$program" "${each%%:*}"
  [ "$status" != 0 ] && [ "$status" != 124 ] || fail "status $status"
  grep -q "${each#*:}" "$out" "$err" || fail "nothing found: $each"
done
nothing_left || fail 'something is left'
finish
