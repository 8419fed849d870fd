#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# counted.sh CASE FAMILY LAUNCHER SUMAC PROGRAM: SUMAC_STATS and SUMAC_PROFILE tell of the calls
# that a program is known to make, and leave a word however it ends.
. "$(dirname "$0")/../launch.sh"
PYTHONPATH=$tests/../python
export PYTHONPATH PYTHONDONTWRITEBYTECODE=1

# compared KIND SCENARIO ARGUMENTS... compares statistics or a profile with what the program called.
compared() {
  kind=$1
  shift
  python3 "$tests/mpi/${kind}_test.py" "$@" >"$scratch/found" 2>&1 ||
    fail "$*: $(cat "$scratch/found")"
}

statistics() {
  for ranks in 2 3; do
    stats "$stats" $ranks calls
    expect_status 0
    expect_silence
    compared statistics calls "$stats" $ranks 0
    expect_end MPI_Finalize
    SUMAC_COLLS=^allreduce stats "$stats" $ranks calls
    compared statistics left_out "$stats" $ranks 0
    stats "$stats" $ranks counted
    expect_status 0
    persistent=$(sed -n 's/^persistent //p' "$out")
    compared statistics counted "$stats" $ranks "$persistent" "$("$sumac" __functions)"
  done
  stats yes 2 calls
  expect_err 'Sumac served 98 of 102 calls'
  stats all 2 counted
  expect_err 'Sumac served 0 of '
  expect_err 'neighbor_allgatherv '
  stats yes 2 counted
  expect_err 'scatterv '
  unusual_ends

  # Where Sumac is switched off, who asks for statistics is told so.
  SUMAC_DISABLE=1 stats yes 2 calls
  expect_status 0
  expect_warnings 1 'warning[disabled]: Sumac is off (SUMAC_DISABLE), so there are no statistics'
  for value in '' no; do
    SUMAC_DISABLE=1 stats "$value" 2 calls
    expect_silence
  done
}

# stats VALUE RANKS WORDS...: runs the program with SUMAC_STATS=VALUE.
stats() {
  value=$1 ranks=$2
  shift 2
  SUMAC_STATS=$value run launch 60 "$ranks" "$program" "$@"
}
expect_end() { grep -q "\"end\": \"$1\"" "$stats" || fail "the file says: $(cat "$stats")"; }

# These programs do not come to MPI_Finalize. Launchers differ in what they think of the first.
unusual_ends() {
  stats yes 2 exit
  expect_err 'sumac summary  rank 0 of 2'
  expect_err 'exit came before MPI_Finalize'
  expect_once 'sumac summary'
  expect_err 'Sumac served 98 of 102 calls'
  stats "$stats" 2 exit
  expect_end exit
  compared statistics calls "$stats" 2 0
  for who in 0 1; do
    stats yes 2 mpi_abort $who
    # MPICH's launcher ends at once, and at times before it has read what the rank wrote; then its
    # own line about MPI_Abort is lost as well, without Sumac too.
    [ "$family" = mpich ] && ! grep -q 'Abort(7)' "$err" && continue
    expect_err "sumac summary  rank $who of 2"
    expect_err 'MPI_Abort came before MPI_Finalize'
  done
  stats "$stats" 2 mpi_abort 0
  expect_end MPI_Abort
  compared statistics calls "$stats" 2 0
  for how in quick abort kill; do
    rm "$stats"
    stats "$stats" 2 "$how"
    expect_end unknown
    compared statistics killed "$stats" 2 0
    stats yes 2 "$how"
    # MPICH's launcher may end what is left of the job first.
    [ "$family" = mpich ] || expect_err 'sumac: no statistics: rank 0 (process '
  done
  stats yes 3 calls
  expect_err 'Sumac served '
  expect_no_line 'no statistics'
}

# SUMAC_PROFILE tells of the time that the program waits, too; and the program ends well wherever
# the profile cannot be written.
profiled() {
  for each in calls:1 none:1 calls:2 threads:2 none:3 threads:3 calls:5; do
    profile "${each%:*}" "${each#*:}"
    expect_status 0
    expect_silence
    compare "${each%:*}" "${each#*:}"
  done
  profile left 2
  expect_status 0
  compare left 2
  SUMAC_PROFILE_CALLS=1000 profile many 2
  expect_status 0
  compare many 2
  profile killed 3
  [ "$status" != 0 ] || fail "a killed rank is not seen"
  compare killed 3
  nowhere_to_write

  # Where options differ, no rank waits for another one.
  SUMAC_PROFILE=$scratch/differs
  mkdir "$SUMAC_PROFILE"
  succeeds launch 60 3 sh -c '
    case ${OMPI_COMM_WORLD_RANK:-$PMI_RANK} in 1) unset SUMAC_PROFILE ;; esac
    exec "$@"' sh "$program" calls
  expect_err "warning[options-differ]"
}

# profile SCENARIO RANKS: runs it, in a new folder.
profile() {
  SUMAC_PROFILE=$scratch/$1-$2
  export SUMAC_PROFILE
  mkdir "$SUMAC_PROFILE"
  run launch 60 "$2" "$program" "$1"
}
compare() {
  compared profiled "$1" "$SUMAC_PROFILE" "$2"
  [ "$(stat -c %a "$SUMAC_PROFILE/rank-0.profile")" = 600 ] || fail "others may read the profile"
}

nowhere_to_write() {
  # The file is there already; there is no folder, or a file in its place.
  SUMAC_PROFILE=$scratch/calls-2
  succeeds launch 60 2 "$program" calls
  expect_err "warning[profile]: cannot make rank 0's file in SUMAC_PROFILE="
  compare calls 2
  for SUMAC_PROFILE in "$scratch/missing" "$program"; do
    succeeds launch 60 2 "$program" calls
    expect_err "warning[profile]: cannot write into SUMAC_PROFILE=$SUMAC_PROFILE"
  done

  # The disc is full: a file may grow no further. MPICH's UCX itself needs larger files.
  [ "$family" != mpich ] || return 0
  SUMAC_PROFILE=$scratch/full
  mkdir "$SUMAC_PROFILE"
  succeeds launch 60 2 sh -c 'ulimit -f 8; trap "" XFSZ; exec "$@"' sh "$program" many
  expect_err "warning[profile]: its end is missing from rank 0's file in SUMAC_PROFILE="
}

run_job_case "$@"
