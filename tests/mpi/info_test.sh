#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# info_test.sh FAMILY LAUNCHER SUMAC PROGRAM: hierarchies set by info key. Each problem must be
# reported once.
. "$(dirname "$0")/../preload/check.sh"
family=$1 launcher=$2 sumac=$3 program=$4
. "$(dirname "$0")/launch.sh"
unset SUMAC_ADAPT # messages tell which options are set

for ranks in 4 5; do
  run launch 30 $ranks "$program"
  expect_status 0
  expect_out "passed: "
  for slug in bad-value late-info; do
    [ "$(grep -cF "warning[$slug]" "$err")" = 1 ] || fail "not one warning[$slug]"
  done
  expect_err "warning[bad-value]: info key sumac_hierarchy=numaa: unknown level 'numaa'"
  expect_err "warning[late-info]: info key sumac_hierarchy=flat"
  expect_err "rank 1 has info key sumac_hierarchy=flat, rank 0 has info key sumac_hierarchy=ranks:2"
done
nothing_left || fail "something is left"
finish
