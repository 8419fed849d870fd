#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check_results_test.sh FAMILY LAUNCHER SUMAC PROGRAM LIAR: with SUMAC_CHECK=results exactly the
# calls in which the MPI gives another result are found, told once, and kept; and the program gets
# the MPI's result, or the job ends.
. "$(dirname "$0")/../preload/check.sh"
family=$1 launcher=$2 sumac=$3 program=$4 liar=$5
. "$(dirname "$0")/launch.sh"

# Of the statistics: results of this kind, on all ranks.
checks() { grep -o "\"$1\": [0-9]*" "$scratch/stats.json" | head -1 | grep -o '[0-9]*$'; }
told() { grep -c 'error\[wrong-result\]' "$err"; }

# run_lying RANKS: with an MPI that lies.
run_lying() {
  run launch_plain 60 "$1" env LD_PRELOAD="$liar" "$sumac" exec -- "$program"
}

export SUMAC_STATS="$scratch/stats.json"
for ranks in 2 3; do
  export SUMAC_CHECK="results,dir:$scratch"
  run launch 60 "$ranks" "$program" --honest
  expect_status 0
  expect_silence
  # Six collectives, blocking and not, 20 calls of each.
  [ "$(checks equal)" = 240 ] || fail "$(checks equal) results are equal, not 240"
  [ "$(checks differed)" = 0 ] || fail "$(checks differed) results differ, not 0"

  run_lying "$ranks"
  expect_status 0
  [ "$(told)" = 1 ] || fail "$(told) lines on wrong results, not 1"
  expect_err "MPI_Allreduce, sum of [1000] int32, served by "
  expect_err "element 17 is "
  # Rank 0's: of blocking calls all ranks know, of others those whose results differ. A reduce's
  # result is the last rank's.
  [ "$(checks differed)" = 44 ] || fail "$(checks differed) results differ, not 44"
  folder=$(echo "$scratch"/sumac-check-*)
  rank=0
  while [ "$rank" -lt "$ranks" ]; do
    for kind in json input sumac mpi; do
      [ -s "$folder/rank-$rank.$kind" ] || fail "no rank-$rank.$kind in $folder"
    done
    rank=$((rank + 1))
  done
  cmp -s "$folder/rank-0.sumac" "$folder/rank-0.mpi" && fail "the results kept are the same"
  [ "$(stat -c %a "$folder")" = 700 ] || fail "others may read $folder"
  python3 -m json.tool "$folder/rank-1.json" >/dev/null || fail "rank-1.json is not JSON"
  rm -rf "$folder"

  # Every seventh of the calls is checked: of 240, 35. All ranks count alike.
  export SUMAC_CHECK="results:1/7,dir:$scratch"
  run launch 60 "$ranks" "$program" --honest
  expect_status 0
  [ "$(checks equal)" = 35 ] || fail "$(checks equal) results are equal, not 35"

  export SUMAC_CHECK="results,end,dir:$scratch"
  run_lying "$ranks"
  [ "$status" != 0 ] || fail "the job did not end"
  [ "$status" != 124 ] || fail "the job hung"
  [ "$(told)" = 1 ] || fail "$(told) lines on wrong results, not 1"
  expect_err "; ending the job; the call is in $scratch/sumac-check-"
  rm -rf "$scratch"/sumac-check-*
done
nothing_left || fail "something is left"
finish
