#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# plan_test.sh FAMILY LAUNCHER SUMAC PRELOAD PROGRAM JOBS SEED: the levels, stages, algorithms and
# chunks that 'sumac plan' prints for random calls must be those in their traces. Each job makes
# five calls.
. "$(dirname "$0")/../preload/check.sh"
family=$1 launcher=$2 sumac=$3 mpich_preload=$4 program=$5 jobs=$6 seed=$7
here=$(dirname "$0")
. "$here/lab.sh"
make_lab 1+1+1+1
python3 "$here/plan_shapes.py" draw "$jobs" "$seed" >"$scratch/jobs"
[ "$(wc -l <"$scratch/jobs")" = "$jobs" ] || fail "not $jobs jobs were drawn"
while read -r hosts ranks hierarchy forced shapes <&3; do
  folder=$scratch/trace
  rm -rf "$folder"
  mkdir "$folder"
  [ "$forced" = - ] && algo='' || algo=$forced
  # Shapes are split into words.
  # shellcheck disable=SC2086
  run job 120 block env "SUMAC_TRACE=$folder" "SUMAC_HIERARCHY=$hierarchy" "SUMAC_ALGO=$algo" \
    "$sumac" exec -- "$program" $shapes
  expect_status 0
  # shellcheck disable=SC2086
  run python3 "$here/plan_shapes.py" compare "$sumac" "$folder" "$family" "$hosts" "$ranks" \
    "$hierarchy" "$forced" $shapes
  expect_status 0
  cat "$out"
done 3<"$scratch/jobs"
nothing_left || fail "something is left"
finish
