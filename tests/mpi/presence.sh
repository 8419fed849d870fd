#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# presence.sh presence FAMILY LAUNCHER SUMAC PROGRAM STUB OTHER OPENS: jobs in which some ranks have
# no Sumac, or another build of it, must end with right results, and one line must report the
# problem. OTHER is a back end built from other sources than that of STUB; OPENS notes the files of
# /proc that Sumac opens.
. "$(dirname "$0")/../launch.sh"
reason='a member runs without Sumac'

presence() {
  stub=$1 other=$2 opens=$3
  with="$sumac exec $program world" without="$program world"
  some_without
  on_none_or_all
  bare
  jobs_at_once
  other_build
  late_or_unseen
  opened_files
  # Debian's MPICH 4.0 cannot spawn.
  [ "$family" != openmpi ] || spawned
}

expect_ranks() { expect_out "on $1 ranks, $2 with Sumac, 0 failed"; }
# told LEVEL RANK WHY: checks for one line of this level about this rank with this reason. Only a
# rank into which Sumac is loaded can tell which process it is.
told() {
  expect_warnings 1
  case $3 in
    'it is not loaded there') process='' ;;
    *) process=' \(process [0-9]*\)' ;;
  esac
  expect_line "$1\[rank-without-sumac\]: rank $2$process runs without Sumac \($3\)"
}

# Of two programs Sumac is loaded into one: the last rank or the first has none.
some_without() {
  passes launch_words 30 -n 4 $with "$reason" : -n 1 $without "$reason"
  expect_ranks 5 4
  told warning 4 'it is not loaded there'
  for ranks in 2 5; do
    others=$((ranks - 1))
    passes launch_words 30 -n 1 $without "$reason" : -n $others $with "$reason"
    expect_ranks $ranks $others
    told warning 0 'it is not loaded there'
  done
  # It may be switched off on one rank.
  passes launch_words 30 -n 1 $with "$reason" : -n 1 env SUMAC_DISABLE=1 $with "$reason"
  expect_ranks 2 1
  told warning 1 'it is switched off there'

  # The printed summary says so, too.
  SUMAC_STATS=1 passes launch_words 30 -n 2 $with "$reason" : -n 3 $without "$reason"
  expect_err 'runs without Sumac (it is not loaded there), as do 2 more; communicators'
  expect_err "mpi: $reason"
}

# Where no rank has Sumac, or all, there is no message, though a shell waits for the program.
on_none_or_all() {
  for start in "$sumac exec sh -c" "env SUMAC_DISABLE=1 $sumac exec sh -c" 'sh -c'; do
    passes launch_words 30 -n 3 $start '"$@"; exit $?' sh $without "$reason"
    expect_silence
  done
}

# Sumac is loaded but has no back end: the other ranks wait a while for it.
bare() {
  mkdir "$scratch/bare"
  cp "$stub" "$scratch/bare"
  passes launch_words 30 -n 2 $with "$reason" : \
    -n 1 env LD_PRELOAD="$scratch/bare/$(basename "$stub")" $without "$reason"
  expect_ranks 3 2
  told warning 2 'it is loaded there but could not serve the program'
}

# Jobs that run at the same time must not mistake each other's ranks for their own.
jobs_at_once() {
  for round in 1 2; do
    launch_words 30 -n 3 $without "$reason" >"$scratch/others" 2>&1 &
    others=$!
    launch_words 30 -n 2 $with "$reason" >"$scratch/with" 2>&1 &
    passes launch_words 30 -n 4 $with "$reason"
    expect_ranks 4 4
    expect_silence
    wait $! || fail "round $round: $(cat "$scratch/with")"
    wait $others || fail "round $round: $(cat "$scratch/others")"
    cp "$scratch/with" "$err"
    expect_line '^passed: .* 2 with Sumac'
    expect_warnings 0
  done
}

# One rank has a back end that is built from other sources.
other_build() {
  mkdir "$scratch/other"
  cp "$stub" "$other" "$scratch/other"
  for ranks in 2 5; do
    differ='ranks run different builds of Sumac'
    passes launch_words 30 -n $((ranks - 1)) $with "$differ" : \
      -n 1 env SUMAC_TEST_OTHER_BUILD=1 LD_PRELOAD="$scratch/other/$(basename "$stub")" \
      $without "$differ"
    expect_warnings 1 "is left to the MPI: $differ; start all from one installation"
    expect_out "on $ranks ranks, $ranks with Sumac,"
  done
}

# All ranks have Sumac, but some are late.
late_or_unseen() {
  SUMAC_HANG_SECONDS=1 passes launch_words 30 -n 3 "$sumac" exec "$program" late 3
  expect_warnings 1 'warning[set-up]: rank 0 of 3 has waited 1 s'

  # Ranks cannot always know how many others there are.
  SUMAC_HANG_SECONDS=2 \
    run launch_words 30 -n 2 "$sumac" exec "$program" unseen : -n 1 "$program" unseen
  expect_ended
  expect_line \
    'error\[set-up\]: rank [01] of 3 has waited 2 s .* so the job is ended; .*: ([01], )?2\.'
}

# However many ranks there are, each opens a few files of /proc, and of other processes none that
# tells more than that they run. Its own threads it looks at as often as it waits long.
opened_files() {
  for ranks in 2 7; do
    mkdir "$scratch/opens"
    SUMAC_TEST_OPENS=$scratch/opens LD_PRELOAD=$opens \
      run launch_words 60 -n $ranks $with "$reason"
    expect_passed
    [ "$(find "$scratch/opens" -type f | wc -l)" = $ranks ] || fail "not $ranks ranks left a list"
    for file in "$scratch"/opens/*; do
      own=$(grep -cvE '^/proc/([0-9]*/fd/|self/task(/|$))' "$file")
      [ "$own" -le 60 ] || fail "too many files: $(cat "$file")"
      others=$(grep -E '/(environ|maps|smaps|cmdline|mem|auxv|exe)$' "$file" |
        grep -v "^/proc/\(self\|$(basename "$file")\)/")
      [ -z "$others" ] || fail "$ranks ranks: $others"
    done
    rm -r "$scratch/opens"
  done
}

spawned() {
  for each in 1:2 3:1; do
    ranks=${each%:*} children=${each#*:}
    for start in env "$sumac exec"; do
        run launch_words 30 -n $ranks "$sumac" exec "$program" spawn $children \
        $start "$program" child
      expect_passed
      expect_silence
      expect_ranks $ranks $ranks
    done
    expect_ranks $children $children
    # Only the children have Sumac.
    passes launch_words 30 -n $ranks "$program" spawn $children $start "$program" child
    expect_silence
  done
}

run_job_case "$@"
