#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# taskloop_test.sh linked|preloaded FAMILY LAUNCHER SUMAC RANKS PROGRAM: results must be right at
# several sizes and numbers of threads, without a warning from Sumac.
how=$1 family=$2 launcher=$3 sumac=$4 ranks=$5 program=$6
tests=$(dirname "$0")/../../tests
# shellcheck source=tests/launch.sh
. "$tests/launch.sh"
[ "$how" = linked ] && start=launch_plain || start=launch

for each in 1:1 1000:1 300000:1 300000:3 1:3; do
  elements=${each%:*}
  export OMP_NUM_THREADS="${each#*:}"
  run $start 60 "$ranks" "$program" "$elements" 3
  expect_status 0
  expect_out "3 sums of $elements reals on $ranks ranks, and the tasks beside them: right"
  expect_warnings 0
done
export SUMAC_STATS=1 OMP_NUM_THREADS=3
run $start 60 "$ranks" "$program" 1000 3
expect_status 0
if [ "$how" = linked ]; then
  expect_silence
else
  expect_err "sumac summary"
fi
export SUMAC_DISABLE=1
run $start 60 "$ranks" "$program" 1000 3
expect_status 0
expect_warnings 2
run $start 60 1 "$program" nonsense
[ "$status" != 0 ] || fail "nonsense was accepted"
nothing_left || fail "something is left"
finish
