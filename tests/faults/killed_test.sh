#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# killed_test.sh FAMILY LAUNCHER SUMAC PROGRAM RANKS "CASE..." "ALGORITHM..." KINDS...: kills a rank
# of jobs on this host. CASE is COUNT:VICTIM:WHEN, as the program has it; an ALGORITHM is
# COLLECTIVE:NAME. Where the launcher looks away, the other ranks must end the job, and name the
# dead one, its host and its process; where it does not, the launcher may be the first to do so.
# With BOTH_LAUNCHERS it is one launcher or the other, in turns.
. "$(dirname "$0")/../preload/check.sh"
family=$1 real_launcher=$2 sumac=$3 program=$4 ranks=$5 cases=$6 algorithms=$7
shift 7
launcher=$real_launcher
. "$(dirname "$0")/../mpi/launch.sh"
export UCX_MEM_EVENTS=no
jobs=0 named=0 looks=0
case $family in
  openmpi) looks_away=--enable-recovery ;;
  *) looks_away=-disable-auto-cleanup ;;
esac
printf '#!/bin/sh\nexec "%s" %s "$@"\n' "$real_launcher" "$looks_away" >"$scratch/launcher"
chmod +x "$scratch/launcher"

# A collective and an algorithm, whether the ranks are in levels, and how the calls are made.
one_kill() {
  kind=$1 algorithm=$2 case=$3
  collective=${algorithm%%:*} expected=${algorithm#*:}
  count=${case%%:*} rest=${case#*:}
  run launch 60 "$ranks" "$program" "$collective" "$kind" "$count" "${rest%%:*}" "${rest#*:}" \
    "$(patient 10)"
  command_line="$algorithm $kind $case, $launcher ($SUMAC_HIERARCHY)"
  grep -q '^SKIPPED' "$out" && return
  jobs=$((jobs + 1))
  victim=$(awk '$1 == "victim:" { print $3, $5, $7 }' "$out")
  [ -n "$victim" ] || fail "the program did not come so far"
  # shellcheck disable=SC2086
  set -- $victim
  [ "$status" != 124 ] || fail "the job did not end"
  grep -q 'out of time\|FAILED' "$err" "$out" && fail "the others did not end"
  served=$(sed -n 's/^victim: .* by //p' "$out")
  if [ "$launcher" = "$real_launcher" ]; then
    [ "$status" != 0 ] || fail "status 0"
    # MPICH's names the first process it finds, which may be one that it has ended itself.
    if [ "$family" = openmpi ]; then
      told="process rank $1 with PID $2 on node $3"
    else
      told="signal 9"
    fi
    grep -q "$told" "$out" "$err" || grep -q "process $2 on $3" "$err" || fail "nobody says: $told"
    return
  fi
  case $served in
    "$expected" | */"$expected") ;;
    *) fail "served by $served" ;;
  esac
  # MPICH's launcher does not always look away, or breaks down itself: it then ends the others
  # before they find out.
  [ "$family" = mpich ] && ! grep -q rank-lost "$err" && return
  named=$((named + 1))
  expect_err 'error[rank-lost]'
  expect_err "rank $1 (rank $1 of the job, process $2 on $3), whose process is gone"
}

for algorithm in $algorithms; do
  export SUMAC_ALGO="$algorithm"
  for kind in "$@"; do
    for case in $cases; do
      launcher=$scratch/launcher
      [ "$looks" = 0 ] || launcher=$real_launcher
      one_kill "$kind" "$algorithm" "$case"
      [ -z "${BOTH_LAUNCHERS:-}" ] || looks=$((1 - looks))
    done
    # Each case with the other launcher next time.
    [ -z "${BOTH_LAUNCHERS:-}" ] || looks=$((1 - looks))
  done
done
echo "$jobs jobs; in $named the ranks had to end it"
nothing_left || fail "something is left"
finish
