#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# replayed_test.sh FAMILY LAUNCHER SUMAC RECORDED REPLAY CHECK_RESULTS LIAR: a replay makes the
# calls that the program made, with equal results by the MPI and by Sumac, and finds where they are
# not; records that end early, and what cannot be replayed.
. "$(dirname "$0")/../preload/check.sh"
family=$1 launcher=$2 sumac=$3 recorded=$4 replay=$5 check_results=$6 liar=$7
. "$(dirname "$0")/launch.sh"

record=$scratch/record

# record_calls RANKS CALLS SEED [--die CALL]
record_calls() {
  ranks=$1
  shift
  rm -rf "$record"
  run launch 60 "$ranks" env SUMAC_RECORD="$record" "$recorded" "$scratch" "$@"
}

# replayed: calls by function and form, as sums over the ranks.
replayed() {
  python3 -c '
import collections, json, sys
calls = collections.Counter()
for line in sys.stdin:
    each = json.loads(line)
    if each["kind"] == "class":
        calls[each["function"], each["form"]] += each["calls"]
for (function, form), count in sorted(calls.items()):
    print(function, form, count)' <"$out"
}
value() { grep "\"kind\":\"$1\"" "$out" | grep -o "\"$2\":[0-9]*" | head -1 | grep -o '[0-9]*$'; }

seed=1
for ranks in 1 2 3; do
  record_calls "$ranks" "$([ "$ranks" = 3 ] && echo 60 || echo 150)" "$seed"
  expect_status 0
  # Of persistent operations the program counts how often they were initialised; each was started
  # three times.
  awk '$1 != "-" { calls[$1 " " $2] += $3 * ($2 == "persistent" ? 3 : 1) }
       END { for (what in calls) print what, calls[what] }' "$scratch"/rank-*.made |
    LC_ALL=C sort >"$scratch/expected"
  for way in "" --only-mpi --only-sumac; do
    # shellcheck disable=SC2086  # no argument where it is empty
    run launch 60 "$ranks" "$replay" "$record" --rounds 2 $way
    expect_status 0
    replayed | LC_ALL=C sort >"$scratch/replayed"
    cmp -s "$scratch/expected" "$scratch/replayed" ||
      fail "other calls: $(diff "$scratch/expected" "$scratch/replayed" | tr '\n' ' ')"
    [ "$(value summary wrong)" = 0 ] || fail "$(value summary wrong) results are wrong"
    [ "$(value header cut)" = 0 ] || fail "$(value header cut) calls were left out"
  done
  seed=$((seed + 1))
  rm -f "$scratch"/rank-*.made
done

# A rank that was killed, and one whose record reached a limit: the rest fits together.
export SUMAC_RECORD_CALLS=50
record_calls 3 60 8
unset SUMAC_RECORD_CALLS
head -n -40 "$record/rank-1.calls" >"$scratch/shorter"
printf 'b 1' >>"$scratch/shorter"
mv "$scratch/shorter" "$record/rank-1.calls"
run launch 60 3 "$replay" "$record" --rounds 1
expect_status 0
[ "$(value header cut)" -gt 0 ] || fail "nothing was left out"
[ "$(value header calls)" -gt 0 ] || fail "nothing was made"
[ "$(value summary wrong)" = 0 ] || fail "$(value summary wrong) results are wrong"
record_calls 2 3000 7 --die 2900
run launch 60 2 "$replay" "$record" --rounds 1
expect_status 0
[ "$(value header calls)" -gt 1000 ] || fail "$(value header calls) calls"

# Another number of ranks, calls that do not match, lines that are none.
record_calls 2 60 9
run launch 60 3 "$replay" "$record"
[ "$status" != 0 ] || fail "a record of 2 ranks was replayed by 3"
expect_err "error[replay-ranks]"
run launch 60 1 "$replay" "$record"
expect_err "error[replay-ranks]"
sed -i 's/^\(s [0-9]* bcast blocking.*root=\)[01]/\15/' "$record/rank-1.calls"
run launch 60 2 "$replay" "$record"
[ "$status" != 0 ] || fail "other roots were replayed"
expect_err "error[replay-mismatch]"
for line in "b 99999 1 2" "b 0" "s 99999 bcast" "t 0 named X" "what" "b 1 2 3 4 5 x"; do
  record_calls 2 20 9
  echo "$line" >>"$record/rank-1.calls"
  run launch 60 2 "$replay" "$record"
  [ "$status" != 0 ] || fail "'$line' was accepted"
  expect_err "error[bad-record]"
done
record_calls 2 20 9
run launch 60 2 "$replay" "$record" --memory 1000
expect_err "error[replay-memory]"

# An MPI that gives wrong results.
rm -rf "$record"
run launch 60 2 env SUMAC_RECORD="$record" "$check_results" --honest
expect_status 0
run launch_plain 60 2 env LD_PRELOAD="$liar" "$sumac" exec -- "$replay" "$record" --rounds 1
expect_status 4
[ "$(value summary wrong)" -gt 0 ] || fail "nothing is wrong"

nothing_left || failures=$((failures + 1))
finish
