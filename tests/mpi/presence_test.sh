#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# presence_test.sh FAMILY LAUNCHER SUMAC PROGRAM STUB OTHER OPENS: jobs in which some ranks have no
# Sumac, or another build of it, must end with right results, and one line must report the problem.
# OTHER is a back end built from other sources than that of STUB; OPENS notes the files of /proc
# that Sumac opens.
. "$(dirname "$0")/../preload/check.sh"
family=$1 launcher=$2 sumac=$3 program=$4 stub=$5 other=$6 opens=$7
. "$(dirname "$0")/launch.sh"
reason='a member runs without Sumac'

# job SECONDS WORDS...: runs the launcher with these words for at most SECONDS.
job() {
  seconds=$(patient "$1")
  shift
  SUMAC_TEST_JOB=$job_mark SUMAC_TEST_SECONDS=$seconds \
    timeout -k 5 $((seconds + 5)) "$launcher" "$@"
}
with() { expect_out "on $1 ranks, $2 with Sumac, 0 failed"; }
passed() {
  expect_status 0
  expect_out 'passed: '
}
# told LEVEL RANK WHY: checks for one line of this level about this rank with this reason. Only a
# rank into which Sumac is loaded can tell which process it is.
told() {
  expect_warnings 1
  case $3 in
    'it is not loaded there') process='' ;;
    *) process=' (process [0-9]*)' ;;
  esac
  grep -q "$1\[rank-without-sumac\]: rank $2$process runs without Sumac ($3)" "$err" ||
    fail "it is not said of rank $2 that $3"
}

# Two programs, of which Sumac is loaded into one: the last rank or the first has none.
run job 30 -n 4 "$sumac" exec "$program" world "$reason" : -n 1 "$program" world "$reason"
passed
with 5 4
told warning 4 'it is not loaded there'
for ranks in 2 5; do
  others=$((ranks - 1))
  run job 30 -n 1 "$program" world "$reason" : -n $others "$sumac" exec "$program" world "$reason"
  passed
  with $ranks $others
  told warning 0 'it is not loaded there'
done
# Switched off on one rank.
run job 30 -n 1 "$sumac" exec "$program" world "$reason" : \
  -n 1 env SUMAC_DISABLE=1 "$sumac" exec "$program" world "$reason"
passed
with 2 1
told warning 1 'it is switched off there'

# On no rank and on all ranks, started by a shell that waits for the program: no message.
for start in "$sumac exec sh -c" "env SUMAC_DISABLE=1 $sumac exec sh -c" 'sh -c'; do
  # shellcheck disable=SC2086
  run job 30 -n 3 $start '"$@"; exit $?' sh "$program" world "$reason"
  passed
  expect_silence
done

# Several ranks with Sumac, and the printed summary.
SUMAC_STATS=1 run job 30 -n 2 "$sumac" exec "$program" world "$reason" : \
  -n 3 "$program" world "$reason"
passed
expect_err 'runs without Sumac (it is not loaded there), as do 2 more; communicators'
expect_err "mpi: $reason"

# Sumac is loaded but has no back end: the other ranks wait a while for it.
mkdir "$scratch/bare"
cp "$stub" "$scratch/bare"
run job 30 -n 2 "$sumac" exec "$program" world "$reason" : \
  -n 1 env LD_PRELOAD="$scratch/bare/$(basename "$stub")" "$program" world "$reason"
passed
with 3 2
told warning 2 'it is loaded there but could not serve the program'

# Jobs that run at the same time must not mistake each other's ranks for their own.
for round in 1 2; do
  job 30 -n 3 "$program" world "$reason" >"$scratch/without" 2>&1 &
  without=$!
  job 30 -n 2 "$sumac" exec "$program" world "$reason" >"$scratch/with" 2>&1 &
  run job 30 -n 4 "$sumac" exec "$program" world "$reason"
  passed
  with 4 4
  expect_silence
  wait $! || fail "round $round: $(cat "$scratch/with")"
  wait $without || fail "round $round: $(cat "$scratch/without")"
  grep -q '^passed: .* 2 with Sumac' "$scratch/with" || fail "round $round: $(cat "$scratch/with")"
  grep -q '^sumac:' "$scratch/with" && fail "round $round: $(cat "$scratch/with")"
done

# A back end built from other sources.
mkdir "$scratch/other"
cp "$stub" "$other" "$scratch/other"
for ranks in 2 5; do
  differ='ranks run different builds of Sumac'
  run job 30 -n $((ranks - 1)) "$sumac" exec "$program" world "$differ" : \
    -n 1 env SUMAC_TEST_OTHER_BUILD=1 LD_PRELOAD="$scratch/other/$(basename "$stub")" \
    "$program" world "$differ"
  passed
  expect_warnings 1
  expect_err "is left to the MPI: $differ; start all from one installation"
  expect_out "on $ranks ranks, $ranks with Sumac,"
done

# All ranks have Sumac, but some are late.
SUMAC_HANG_SECONDS=1 run job 30 -n 3 "$sumac" exec "$program" late 3
passed
expect_warnings 1
expect_err 'warning[set-up]: rank 0 of 3 has waited 1 s'

# Ranks that cannot know how many others there are.
SUMAC_HANG_SECONDS=2 run job 30 -n 2 "$sumac" exec "$program" unseen : -n 1 "$program" unseen
[ "$status" != 0 ] && [ "$status" != 124 ] || fail "status $status"
grep -Eq 'error\[set-up\]: rank [01] of 3 has waited 2 s .* so the job is ended; .*: ([01], )?2\.' \
  "$err" || fail 'nobody says why'
grep -q 'out of time' "$err" && fail 'it was not ended by Sumac'

# However many ranks there are, each opens a few files of /proc, and of other processes none that
# tells more than that they run. Its own threads it looks at as often as it waits long.
for ranks in 2 7; do
  mkdir "$scratch/opens"
  SUMAC_TEST_OPENS=$scratch/opens LD_PRELOAD=$opens run job 60 -n $ranks "$sumac" exec "$program" \
    world "$reason"
  passed
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

# Debian's MPICH 4.0 cannot spawn.
if [ "$family" = openmpi ]; then
  for each in 1:2 3:1; do
    ranks=${each%:*} children=${each#*:}
    for start in env "$sumac exec"; do
      # shellcheck disable=SC2086
      run job 30 -n $ranks "$sumac" exec "$program" spawn $children $start "$program" child
      passed
      expect_silence
      with $ranks $ranks
    done
    with $children $children
    # Only the children have Sumac.
    # shellcheck disable=SC2086
    run job 30 -n $ranks "$program" spawn $children $start "$program" child
    passed
    expect_silence
  done
fi
nothing_left || fail "something is left"
finish
