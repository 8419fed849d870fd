#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# killed.sh CASE FAMILY LAUNCHER SUMAC PROGRAM ARGUMENTS...: a rank is killed. The job must end by
# itself, with a status that says so, and leave nothing behind.
. "$(dirname "$0")/../lab/lab.sh"
jobs=0 named=0

# on_host RANKS "CASE..." "ALGORITHM..." KINDS... kills ranks in collectives, by killed.cc. CASE is
# COUNT:VICTIM:WHEN, as the program has it; an ALGORITHM is COLLECTIVE:NAME. Where the launcher
# looks away, the other ranks must end the job, and name the dead one, its host and its process;
# where it does not, the launcher may be the first to do so. With BOTH_LAUNCHERS it is one launcher
# or the other, in turns.
on_host() {
  ranks=$1 cases=$2 algorithms=$3 looks=0 real_launcher=$launcher
  shift 3
  case $family in
    openmpi) looks_away=--enable-recovery ;;
    *) looks_away=-disable-auto-cleanup ;;
  esac
  printf '#!/bin/sh\nexec "%s" %s "$@"\n' "$real_launcher" "$looks_away" >"$scratch/launcher"
  chmod +x "$scratch/launcher"
  export UCX_MEM_EVENTS=no
  for algorithm in $algorithms; do
    export SUMAC_ALGO="$algorithm"
    for kind in "$@"; do
      for each in $cases; do
        launcher=$scratch/launcher
        [ "$looks" = 0 ] || launcher=$real_launcher
        kill_on_host
        [ -z "${BOTH_LAUNCHERS:-}" ] || looks=$((1 - looks))
      done
      # Next time each case has the other launcher.
      [ -z "${BOTH_LAUNCHERS:-}" ] || looks=$((1 - looks))
    done
  done
  echo "$jobs jobs; in $named the ranks had to end it"
}

# killed_words SECONDS prints the program's arguments, for $algorithm, $kind and $each.
killed_words() { echo "${algorithm%%:*} $kind $(echo "$each" | tr : ' ') $(patient "$1")"; }

kill_on_host() {
  # shellcheck disable=SC2046
  run launch 60 "$ranks" "$program" $(killed_words 10)
  command_line="$algorithm $kind $each, $launcher ($SUMAC_HIERARCHY)"
  ! skipped || return
  jobs=$((jobs + 1))
  # shellcheck disable=SC2046
  set -- $(awk '$1 == "victim:" { print $3, $5, $7 }' "$out")
  [ $# -ge 3 ] || fail "the program did not come so far"
  if [ "$launcher" = "$real_launcher" ]; then
    expect_ended
    told_by_launcher "$@"
  else
    [ "$status" != 124 ] || fail "the job did not end"
    expect_no_line 'out of time'
    told_by_ranks "$@"
  fi
  expect_no_line FAILED
}

# told_by_launcher RANK PROCESS HOST and told_by_ranks expect that somebody says who was killed.
told_by_launcher() {
  # MPICH's names the first process it finds, which may be one that it has ended itself.
  told="signal 9"
  [ "$family" != openmpi ] || told="process rank $1 with PID $2 on node $3"
  expect_line "$told|process $2 on $3"
}

told_by_ranks() {
  served=$(sed -n 's/^victim: .* by //p' "$out")
  case $served in
    "${algorithm#*:}" | */"${algorithm#*:}") ;;
    *) fail "served by $served" ;;
  esac
  # MPICH's launcher does not always look away, or breaks down itself: it then ends the others
  # before they find out.
  [ "$family" = mpich ] && ! grep -q rank-lost "$err" && return
  named=$((named + 1))
  expect_err 'error[rank-lost]'
  expect_err "rank $1 (rank $1 of the job, process $2 on $3), whose process is gone"
}

# on_hosts PRELOAD "CASE..." "ALGORITHM..." KINDS... does the same on several hosts.
on_hosts() {
  cases=$2 algorithms=$3
  make_lab 2+2 "$1"
  shift 3
  for algorithm in $algorithms; do
    export SUMAC_ALGO="$algorithm"
    for kind in "$@"; do
      for each in $cases; do
        # shellcheck disable=SC2046
        run job 120 block "$sumac" exec -- "$program" $(killed_words 20)
        command_line="$algorithm $kind $each"
        jobs=$((jobs + 1))
        expect_ended
        expect_no_line FAILED
        expect_line '^victim: '
        nothing_left || fail "something is left"
      done
    done
  done
  echo "$jobs jobs ended by themselves"
}

# probe_on_hosts PRELOAD kills a rank on the last host during all-reduces.
probe_on_hosts() {
  make_lab 2+2 "$1"
  for placement in block turns; do
    ends job 180 $placement "$sumac" exec -- "$program" kill
    expect_line '^allreduce 1048576 '
    nothing_left || fail "something is left"
  done
}

probe() {
  began=$(date +%s)
  ends launch 60 3 "$program" kill
  [ $(($(date +%s) - began)) -lt 50 ] || fail "ended by the time limit only"
}

run_job_case "$@"
