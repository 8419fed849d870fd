#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# switches.sh switches FAMILY LAUNCHER SUMAC PROGRAM: every switch that has a wrong value, or has no
# effect, must be reported once per job, and the job goes on with the default.
. "$(dirname "$0")/../launch.sh"
unset SUMAC_ADAPT # messages tell which options are set

switches() {
  cd "$scratch" || exit 1 # a switch must not become a file here
  bad_switches
  ranks_that_differ
  spellings
  statistics
  forced
  without_effect
  instruction_sets
  told_once
}

# with SETTINGS... -- ARGUMENTS: runs the program on 3 ranks, which must pass.
with() {
  settings=''
  while [ "$1" != -- ]; do
    settings="$settings $1"
    shift
  done
  shift
  passes launch_plain 60 3 env $settings "$sumac" exec -- "$program" "$@"
}

# warns SETTINGS... -- ARGUMENTS does the same and expects one line from Sumac.
warns() {
  with "$@"
  expect_warnings 1
}

# bad_values NAME KIND: prints bad values, one per line.
bad_values() {
  case $2 in
    flag) set -- 2 maybe -1 yess ;;
    choice) set -- nonsense -1 77 auto,off ;;
    count | bytes | limit) set -- 1x -1 99999999999999999999999 1.5 ;;
    colls) set -- nonsense all, ^ bcast,scatter ;;
    path) set -- yes ON true 1 ;;
    report) set -- yess all, json 2 ;;
    *)
      case $1 in
        ALGO) set -- nonsense bcast:slots\;allreduce:rign flat:allreduce allreduce: ;;
        SIMD) set -- axv2 avx9 2 sse9 ;;
        HIERARCHY) set -- numaa node,, list:x ranks:0 ;;
        CHECK) set -- result results:0 calls,, results:1/0 ;;
        SLOW_HOSTS) set -- ;; # patterns: any text is one
        *) echo "no bad values of $1" >&2 && exit 1 ;;
      esac
      ;;
  esac
  printf '%s\n' "$@"
}

# The names and kinds come from the table of options.
bad_switches() {
  "$sumac" __options | sed -n 's/.*"name": "\([A-Z_]*\)", "kind": "\([a-z]*\)".*/\1 \2/p' >table
  [ "$(wc -l <table)" -gt 20 ] || fail "no table of options"
  for round in 1 2 3 4; do
    bad=''
    while read -r name kind; do
      value=$(bad_values "$name" "$kind" | sed -n "${round}p")
      [ -z "$value" ] || bad="$bad SUMAC_$name=$value"
    done <table
    hows=all # the ranks that set the option do not depend on the value
    [ "$round" != 1 ] || hows='all late one'
    for how in $hows; do
      case $how in
        all) with $bad -- ;;
        late) with $bad -- --late-rank ;;
        one) with -- --only 2 $bad ;;
      esac
      count=0
      for setting in $bad; do
        count=$((count + 1))
        where=''
        [ "$how" != one ] || where='on rank 2: '
        expect_once "sumac: warning[bad-value]: $where$setting"
      done
      expect_warnings $count
    done
  done
  empty=$(sed 's/\([A-Z_]*\) .*/SUMAC_\1=/' table | tr '\n' ' ')
  with $empty --
  expect_silence
}

# A rank that differs in one option must report that one only. Unknown names are treated like bad
# values.
ranks_that_differ() {
  for tell_all in 64 1; do
    with SUMAC_CMA=maybe SUMAC_TELL_ALL=$tell_all -- --only 1 SUMAC_SPINN=1
    expect_warnings 2
    expect_once \
      "warning[bad-value]: SUMAC_CMA=maybe is not one of auto, off; using the default, auto"
    expect_once \
      "[unknown-option]: on rank 1: SUMAC_SPINN is not an option; did you mean SUMAC_SPIN?"
  done
  with SUMAC_DEBUG=no SUMAC_CMA=maybe --
  expect_silence
  # This was an option once.
  with SUMAC_CHECK_ACTION=end --
  expect_once "SUMAC_CHECK_ACTION is not an option; use SUMAC_CHECK=results,end"
}

# Yes and no have several spellings.
spellings() {
  for word in yes ON true 1; do
    with SUMAC_STATS=$word --
    expect_times 1 '^sumac summary  rank 0 of 3$'
    expect_line '^  collective  *calls  mean bytes  *time  per call  path$'
    expect_line '^  allreduce +[0-9]+ +8 +[0-9.]+ (us|ms|s) +[0-9.]+ (ns|us|ms|s)  [a-z]'
  done
  for word in no Off false 0; do
    with SUMAC_STATS=$word SUMAC_DISABLE=$word --
    expect_silence
  done
  SUMAC_DISABLE=yes run launch_words 60 -n 1 "$sumac" exec -- "$program"
  expect_err "Sumac does not serve this program"
  [ "$(ls)" = "$(printf 'err\njob\nout\ntable')" ] || fail "a switch became a file: $(ls)"
}

# Statistics may be those of all ranks.
statistics() {
  with SUMAC_STATS=all --
  expect_times 1 '^sumac summary  all 3 ranks$'
  of_a_rank='[0-9.]+ [a-z]+ \([0-2]\)'
  expect_line "^  allreduce +[0-9]+ +8 +$of_a_rank +$of_a_rank  [a-z]"
  with SUMAC_STATS=all,stats.json --
  expect_silence
  [ "$(grep -c '"rank": [0-2], "paths": \[' stats.json)" = 3 ] || fail "not three ranks in the file"
  with SUMAC_STATS=all -- --only 1 SUMAC_STATS=no
  expect_once "warning[stats-ranks]: rank 0's statistics alone"
  expect_err "sumac summary  rank 0 of 3"
  with SUMAC_STATS=/nowhere/stats.json --
  expect_once "warning[stats-file]: cannot write /nowhere/stats.json"
}

# Each algorithm must be used, or the reason why not must be printed.
forced() {
  "$sumac" __algorithms |
    tr -d '{":,' |
    sed -n 's/^ *collective \([a-z]*\) name \([a-z_]*\) needs \([a-z_]*\) .*/\1 \2 \3/p' \
      >algorithms
  [ "$(wc -l <algorithms)" -gt 25 ] || fail "no table of algorithms"
  for round in $(seq 12); do
    forced=''
    for collective in allreduce reduce bcast barrier; do
      name=$(sed -n "s/^$collective \([a-z_]*\) .*/\1/p" algorithms | sed -n "${round}p")
      [ -z "$name" ] || forced="$forced$collective:$name;"
    done
    rm -f stats.json
    with "SUMAC_ALGO=$forced" SUMAC_STATS=stats.json --
    count=0
    for item in $(echo "$forced" | tr ';' ' '); do
      collective=${item%:*} name=${item#*:}
      needs=$(sed -n "s/^$collective $name //p" algorithms)
      case $needs in
        messages | levels*)
          count=$((count + 1))
          expect_once "[forced]: SUMAC_ALGO=$item does not run on a communicator of 3 ranks: it is"
          ;;
        maps)
          count=$((count + 1))
          expect_once "=$item: 9 of 12 calls went another way: 9 with buffers that are not in"
          ;;
        *) expect_path "$collective" "$name" ;;
      esac
    done
    expect_warnings $count
  done
}

without_effect() {
  with SUMAC_ALGO=allreduce:direct SUMAC_PROMOTE=off --
  expect_once "allreduce:direct does not run on a communicator of 3 ranks: it needs memory"
  warns SUMAC_ALGO=allreduce:single_copy SUMAC_CMA=off --
  expect_once "allreduce:single_copy does not run on a communicator of 3 ranks: it needs cross"
  warns SUMAC_ALGO=allreduce:flat_lines -- --large 1000
  expect_once "allreduce:flat_lines: 9 of 12 calls went another way: 9 larger than the 2072 bytes"
  warns SUMAC_ALGO=allreduce:single_copy -- --user
  expect_once "of operations of the program's own, which it cannot fold"
  warns SUMAC_ALGO=allreduce:flat_slots SUMAC_HIERARCHY=ranks:2,node -- --user
  expect_once "mpi: user-defined operation over a hierarchy"
  warns SUMAC_ALGO=allreduce:split_slots SUMAC_PROGRESS=off -- --nonblocking
  expect_once "mpi: nonblocking, and nothing would make it go on"
  warns SUMAC_ALGO=allreduce:split_slots SUMAC_BUILD_AFTER=1000 --
  expect_once "allreduce:split_slots: 12 of 12 calls went another way: 12 mpi: first calls on"
  with "SUMAC_ALGO=allreduce:ring;allreduce:flat_slots" -- # for each kind of group its own
  expect_silence
  with SUMAC_ALGO=barrier:flat SUMAC_HIERARCHY=ranks:2,node --
  expect_once "SUMAC_ALGO=barrier:flat does not run"
  warns SUMAC_HIERARCHY=node --
  expect_once "warning[hierarchy]: node does not divide the 3 ranks of the job"

  printf '[[rule]]\ncollective = "bcast"\nover = "shm"\nalgorithm = "single_copy"\n' >rules.toml
  warns SUMAC_RULES=rules.toml SUMAC_CMA=off --
  expect_once "[forced]: rules.toml:1: bcast:single_copy does not run on a communicator of 3 ranks"
  warns SUMAC_RULES=./none.toml --
  expect_once "warning[rules]: ./none.toml: cannot be opened"
}

# Instruction sets have their common names.
instruction_sets() {
  for name in auto native AVX-512 avx512f avx512fp16 avx2 sse4.2 sse4_1 neon sve none off scalar; do
    succeeds env "SUMAC_SIMD=$name" "$sumac" __check-env
  done
  with SUMAC_SIMD=none SUMAC_DEBUG=info --
  expect_once "  scalar  3 ranks"
  case $(uname -m) in aarch64) other=avx512 ;; *) other=neon ;; esac
  with SUMAC_SIMD=$other --
  expect_warnings 1 "warning[simd]: SUMAC_SIMD=$other: this processor has no "
}

# Each decision is printed once.
told_once() {
  with SUMAC_DEBUG=trace --
  sort "$err" | uniq -d >twice
  [ ! -s twice ] || fail "told twice: $(cat twice)"
  for what in "decided: allreduce of 3 ranks, one group that shares memory" \
    "decided: 3 times: allreduce of 3 ranks" "first call: allreduce: flat_lines" \
    "calls: 9 times: allreduce: flat_lines"; do
    expect_once "$what"
  done
}

run_job_case "$@"
