#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# statistics_test.sh FAMILY LAUNCHER SUMAC PROGRAM: SUMAC_STATS tells of all collectives that the
# program is known to call, with their sizes, and leaves a word however the program ends.
. "$(dirname "$0")/../preload/check.sh"
family=$1 launcher=$2 sumac=$3 program=$4
. "$(dirname "$0")/launch.sh"
PYTHONDONTWRITEBYTECODE=1
export PYTHONDONTWRITEBYTECODE

# stats VALUE RANKS WORDS...: runs the program with SUMAC_STATS=VALUE.
stats() {
  value=$1 count=$2
  shift 2
  SUMAC_STATS=$value run launch 60 "$count" "$program" "$@"
}
file=$scratch/stats.json
# compare SCENARIO RANKS [PERSISTENT]: the file with what the program called.
compare() {
  python3 "$(dirname "$0")/statistics_test.py" "$1" "$file" "$2" "${3:-0}" >"$scratch/found" 2>&1 ||
    fail "$(cat "$scratch/found")"
}
ends() { grep -q "\"end\": \"$1\"" "$file" || fail "the file says: $(cat "$file")"; }

for ranks in 2 3; do
  stats "$file" $ranks calls
  expect_status 0
  expect_silence
  compare calls $ranks
  ends MPI_Finalize
  SUMAC_COLLS=^allreduce stats "$file" $ranks calls
  compare left_out $ranks
  stats "$file" $ranks counted
  expect_status 0
  compare counted $ranks "$(sed -n 's/^persistent //p' "$out")"
done
stats yes 2 calls
expect_err 'Sumac served 98 of 102 calls'
stats all 2 counted
expect_err 'Sumac served 0 of '
expect_err 'neighbor_allgatherv '
stats yes 2 counted
expect_err 'gather '

# Programs that do not come to MPI_Finalize. Launchers differ in what they think of the first.
stats yes 2 exit
expect_err 'sumac summary  rank 0 of 2'
expect_err 'exit came before MPI_Finalize'
[ "$(grep -c 'sumac summary' "$err")" = 1 ] || fail "more than one report"
expect_err 'Sumac served 98 of 102 calls'
stats "$file" 2 exit
ends exit
compare calls 2
for who in 0 1; do
  stats yes 2 mpi_abort $who
  # MPICH's launcher ends at once, and at times before it has read what the rank wrote; then its own
  # line about MPI_Abort is lost as well, without Sumac too.
  [ "$family" = mpich ] && ! grep -q 'Abort(7)' "$err" && continue
  expect_err "sumac summary  rank $who of 2"
  expect_err 'MPI_Abort came before MPI_Finalize'
done
stats "$file" 2 mpi_abort 0
ends MPI_Abort
compare calls 2
for how in quick abort kill; do
  rm "$file"
  stats "$file" 2 "$how"
  ends unknown
  compare killed 2
  stats yes 2 "$how"
  # MPICH's launcher may end what is left of the job first.
  [ "$family" = mpich ] || expect_err 'sumac: no statistics: rank 0 (process '
done
stats yes 3 calls
expect_err 'Sumac served '
grep -q 'no statistics' "$err" && fail "there are statistics"

# Switched off.
SUMAC_DISABLE=1 stats yes 2 calls
expect_status 0
expect_warnings 1
expect_err 'warning[disabled]: Sumac is off (SUMAC_DISABLE), so there are no statistics'
for value in '' no; do
  SUMAC_DISABLE=1 stats "$value" 2 calls
  expect_silence
done
nothing_left || fail "something is left"
finish
