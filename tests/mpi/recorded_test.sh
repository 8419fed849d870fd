#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# recorded_test.sh FAMILY LAUNCHER SUMAC PROGRAM: what SUMAC_RECORD writes is what the program has
# called, whoever served it; and what stays where recording cannot go on.
. "$(dirname "$0")/../preload/check.sh"
family=$1 launcher=$2 sumac=$3 program=$4
. "$(dirname "$0")/launch.sh"

# counted FILE: calls and elements by function and form, as the program writes them.
counted() {
  awk '
    function total(list,    i, n, sum) {
      n = split(list, parts, ",")
      for (i = 1; i <= n; i++) sum += parts[i]
      return sum
    }
    function add(what, elements) { calls[what]++; sums[what] += elements }
    $1 == "s" {
      name[$2] = $3 " " $4
      count[$2] = 0
      listed = 0
      for (i = 5; i <= NF; i++) {
        if (split($i, side, "=") == 2 && side[1] == "rn") {
          count[$2] = total(side[2])
          listed = 1
        }
        if (!listed && $i ~ /^[sr]=[^=]/) {
          split($i, values, ",")
          count[$2] = values[2]
        }
      }
    }
    $1 == "b" || $1 == "i" || $1 == "p" { add(name[$2], count[$2]) }
    $1 == "g" { for (i = 2; i <= NF - 2; i++) add("- start", 0) }
    $1 == "w" { for (i = 2; i <= NF - 2; i++) add("- end", 0) }
    END { for (what in calls) print what, calls[what], sums[what] }' "$1" | LC_ALL=C sort
}

# expect_exact FOLDER RANKS: every rank's record says what its program counted.
expect_exact() {
  for rank in $(seq 0 $(($2 - 1))); do
    LC_ALL=C sort "$scratch/rank-$rank.made" >"$scratch/made"
    counted "$1/rank-$rank.calls" >"$scratch/counted"
    cmp -s "$scratch/made" "$scratch/counted" ||
      fail "rank $rank: $(diff "$scratch/made" "$scratch/counted" | head -8 | tr '\n' ' ')"
  done
}

expect_last() {
  [ "$(tail -1 "$1")" = "$2" ] || fail "$1 ends with $(tail -1 "$1"), not $2"
}

seed=1
record=$scratch/record
export SUMAC_RECORD="$record"
for ranks in 1 2 3; do
  # Where ranks share processors MPICH's own calls take long.
  calls=$([ "$ranks" = 3 ] && echo 40 || echo 120)
  for settings in STATS=0 COLLS=^allreduce,bcast,alltoall COLLS=^all PACK_MESSAGES=1 \
    STATS="$scratch/s.json"; do
    run launch 60 "$ranks" env "SUMAC_$settings" "$program" "$scratch" "$calls" "$seed"
    expect_status 0
    expect_silence
    expect_exact "$record" "$ranks"
    expect_last "$record/rank-0.calls" "e finalized"
    [ "$(stat -c %a "$record/rank-0.calls")" = 600 ] || fail "others may read rank-0.calls"
    grep -q '^c 0 ' "$record/rank-0.calls" || fail "no communicator"
    rm -rf "$record"
    seed=$((seed + 1))
  done
done

# What is there already stays as it is, and the program runs.
mkdir "$record"
echo old >"$record/rank-1.calls"
run launch 60 2 "$program" "$scratch" 50 7
expect_status 0
expect_err "warning[record]: cannot make $record/rank-1.calls: File exists"
[ "$(cat "$record/rank-1.calls")" = old ] || fail "an older record was changed"
expect_last "$record/rank-0.calls" "e finalized"
rm -rf "$record"

# Limits, with a message, and between calls.
run launch 60 2 env SUMAC_RECORD_CALLS=100 "$program" "$scratch" 300 8
expect_status 0
expect_warnings 1
expect_err "warning[record-limit]: recording has stopped after 100 calls of a rank"
expect_err "more than SUMAC_RECORD_CALLS allows"
expect_last "$record/rank-1.calls" "e calls"
rm -rf "$record"
run launch 60 2 env SUMAC_RECORD_BYTES=5000 "$program" "$scratch" 300 9
expect_status 0
expect_warnings 1
expect_err "SUMAC_RECORD_BYTES allows"
expect_last "$record/rank-1.calls" "e bytes"
[ "$(stat -c %s "$record/rank-1.calls")" -le 5000 ] || fail "the file is larger than its limit"
rm -rf "$record"

# A killed rank leaves all that it wrote, up to the end of a line but for the last.
run launch 60 2 "$program" "$scratch" 6000 10 --die 5800
[ "$status" != 0 ] || fail "the job did not end with its rank"
for rank in 0 1; do
  file=$record/rank-$rank.calls
  [ "$(wc -l <"$file")" -gt 2000 ] || fail "$(wc -l <"$file") lines of rank $rank"
  head -n -1 "$file" | grep -qv '^[cstobipgwfnxer]' && fail "$file has strange lines"
done
rm -rf "$record"

# No such folder.
run launch 60 2 env SUMAC_RECORD="$scratch/none/record" "$program" "$scratch" 20 11
expect_status 0
expect_err "warning[record]: cannot write into SUMAC_RECORD=$scratch/none/record: No such file"

# A profile goes first, which is said; there is no record without calls.
mkdir "$scratch/profile"
run launch 60 2 env SUMAC_PROFILE="$scratch/profile" "$program" "$scratch" 20 11
expect_status 0
expect_err "warning[record]: nothing is recorded into SUMAC_RECORD=$record: SUMAC_PROFILE is set"
[ ! -e "$record" ] || fail "there is a record beside a profile"
[ -s "$scratch/profile/rank-1.profile" ] || fail "there is no profile beside a record"

# The options are rows of the one table, checked like others.
run launch 60 2 env SUMAC_RECORD_CALLS=0 "$program" "$scratch" 20 11
expect_err "SUMAC_RECORD_CALLS"

nothing_left || failures=$((failures + 1))
finish
