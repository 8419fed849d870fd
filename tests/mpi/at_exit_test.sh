#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# at_exit_test.sh FAMILY LAUNCHER SUMAC PROGRAM: what Sumac writes at MPI_Finalize is there and
# complete where a program calls it while it ends; and all works with promoted memory and with
# messages that Sumac packs.
family=$1 launcher=$2 sumac=$3 program=$4
. "$(dirname "$0")/../preload/check.sh"
. "$(dirname "$0")/launch.sh"

export SUMAC_PROMOTE=eager SUMAC_PACK_MESSAGES=1
for way in handler object library; do
  folder=$scratch/$way
  mkdir -p "$folder/trace"
  SUMAC_STATS=$folder/stats.json SUMAC_TRACE=$folder/trace run launch 60 3 "$program" $way
  expect_status 0
  expect_out "passed: "
  run python3 -m json.tool "$folder/stats.json"
  expect_out '"allreduce"'
  for rank in 0 1 2; do
    # It is whole, and its text is lines of JSON.
    run env PYTHONPATH="$(dirname "$0")/../../python" python3 -c 'import sys
from sumac_mpi.base import recording
file = open(sys.argv[1], "rb")
for _ in recording.read(file.read(), "trace", whole=True)[1]: pass' \
      "$folder/trace/rank-$rank.trace"
    expect_status 0
  done
done
nothing_left || failures=$((failures + 1))
finish
