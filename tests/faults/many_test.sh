#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# many_test.sh FAMILY LAUNCHER SUMAC PROGRAM COMMUNICATORS: so many are alive at once.
. "$(dirname "$0")/../preload/check.sh"
family=$1 launcher=$2 sumac=$3 program=$4 wanted=$5
. "$(dirname "$0")/../mpi/launch.sh"
for ranks in 2 3; do
  run launch 200 "$ranks" "$program" many "$wanted"
  expect_status 0
  expect_out 'passed: '
  grep alive "$out"
done
nothing_left || fail 'something is left'
finish
