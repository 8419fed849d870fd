#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# osu_test.sh FAMILY LAUNCHER SUMAC PROGRAM: by the statistics, Sumac serves all default calls of
# the OSU micro-benchmarks but the first two collectives of each communicator.
. "$(dirname "$0")/../preload/check.sh"
family=$1 launcher=$2 sumac=$3 program=$4
. "$(dirname "$0")/launch.sh"

export SUMAC_STATS="$scratch/stats.json"
for ranks in 2 3; do
  run launch 50 $ranks "$program"
  expect_status 0
  expect_out "passed: "
  for collective in allreduce reduce bcast barrier; do
    grep -q "\"$collective\", .*\"taken\": true" "$SUMAC_STATS" || fail "no $collective is taken"
  done
  grep '"taken": false' "$SUMAC_STATS" | grep -v 'first calls on the communicator' >"$out" &&
    fail "calls are handed to the MPI"
  rm "$SUMAC_STATS"
done
nothing_left || fail "something is left"
finish
