#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# written.sh CASE FAMILY LAUNCHER SUMAC PROGRAM ARGUMENTS...: files that Sumac writes.
. "$(dirname "$0")/../launch.sh"

# traces FOLDER: of three ranks, complete, and with a text that is lines of JSON.
traces() {
  for rank in 0 1 2; do
    succeeds env PYTHONPATH="$tests/../python" python3 -c 'import sys
from sumac_mpi.base import recording
file = open(sys.argv[1], "rb")
for _ in recording.read(file.read(), "trace", whole=True)[1]: pass' "$1/rank-$rank.trace"
  done
}

# What Sumac writes at MPI_Finalize is there and complete where a program calls it while it ends;
# and all works with promoted memory and with messages that Sumac packs.
at_exit() {
  export SUMAC_PROMOTE=eager SUMAC_PACK_MESSAGES=1
  for way in handler object library; do
    trace=$scratch/$way
    mkdir "$trace"
    rm -f "$stats"
    SUMAC_STATS=$stats SUMAC_TRACE=$trace passes launch 60 3 "$program" $way
    expect_json "$stats"
    grep -q '"allreduce"' "$stats" || fail "no all-reduce in the statistics"
    traces "$trace"
  done
}

# In a locale with a decimal comma, what Sumac writes has points; and the files are where the
# program was when it started.
surroundings() {
  cd "$scratch" || exit 1
  locale=C
  if localedef -i de_DE -f UTF-8 "$scratch/de_DE.UTF-8" >"$out" 2>&1; then
    locale=de_DE.UTF-8
    export LOCPATH="$scratch"
  fi
  for promote in off eager; do
    rm -rf st.json trace
    mkdir trace
    export SUMAC_PROMOTE=$promote
    LC_ALL=$locale SUMAC_DEBUG=trace SUMAC_STATS=./st.json SUMAC_TRACE=trace \
      run launch 60 3 "$program"
    expect_passed
    [ "$locale" = C ] || expect_out "locale $locale, 1,5"
    ! grep -E '^sumac: .*[0-9],[0-9]+ (ns|us|ms|s|MiB|KiB|GiB)' "$err" || fail 'a decimal comma'
    grep '^[0-9]* descriptors' "$out"
    expect_json st.json
    grep -q '"seconds": 0\.' st.json || fail 'no seconds in the statistics'
    traces trace
    # The table has points as well.
    LC_ALL=$locale SUMAC_STATS=yes run launch 60 2 "$program"
    expect_err 'sumac summary'
    expect_times 0 '[0-9],[0-9]+ (ns|us|ms|s)'
  done
}

# check_results LIAR: with SUMAC_CHECK=results exactly the calls in which the MPI gives another
# result are found, told once, and kept; and the program gets the MPI's result, or the job ends.
# Figures are results on all ranks.
check_results() {
  liar=$1
  export SUMAC_STATS="$stats"
  for ranks in 2 3; do
    export SUMAC_CHECK="results,dir:$scratch"
    succeeds launch 60 "$ranks" "$program" --honest
    expect_silence
    # There are six collectives, blocking and not, and 20 calls of each.
    expect_figure equal = 240
    expect_figure differed = 0

    run_lying
    expect_status 0
    expect_err "MPI_Allreduce, sum of [1000] int32, served by "
    expect_err "element 17 is "
    # Rank 0 counts: of blocking calls all ranks know, of others those whose results differ. A
    # reduce's result is the last rank's.
    expect_figure differed = 44
    expect_kept

    # Every seventh of the calls is checked: of 240, 35. All ranks count alike.
    export SUMAC_CHECK="results:1/7,dir:$scratch"
    succeeds launch 60 "$ranks" "$program" --honest
    expect_figure equal = 35

    export SUMAC_CHECK="results,end,dir:$scratch"
    run_lying
    expect_ended
    expect_err "; ending the job; the call is in $scratch/sumac-check-"
    rm -rf "$scratch"/sumac-check-*
  done
}

# The job has an MPI that lies.
run_lying() {
  run launch_plain 60 "$ranks" env LD_PRELOAD="$liar" "$sumac" exec -- "$program"
  expect_once 'error[wrong-result]'
}

# The call of the lie is kept, by all ranks, for this user.
expect_kept() {
  folder=$(echo "$scratch"/sumac-check-*)
  for rank in $(seq 0 $((ranks - 1))); do
    for kind in json input sumac mpi; do
      [ -s "$folder/rank-$rank.$kind" ] || fail "no rank-$rank.$kind in $folder"
    done
  done
  ! cmp -s "$folder/rank-0.sumac" "$folder/rank-0.mpi" || fail "the results kept are the same"
  [ "$(stat -c %a "$folder")" = 700 ] || fail "others may read $folder"
  expect_json "$folder/rank-1.json"
  rm -rf "$folder"
}

run_job_case "$@"
