# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# Sourced by tests that start jobs over several pretend hosts, in place of launch.sh.
tests=${tests:-$(dirname "$0")/..}
# shellcheck source=tests/launch.sh
. "$tests/launch.sh"
lab=$tests/../scripts/lab

# make_lab LAYOUT PRELOAD: makes a lab for one test, which is taken down however the test ends. The
# layout is the number of ranks on each host, such as 2+1+2, and PRELOAD the library made from
# mpich.c. Sets $hosts and $ranks. Ends the test as skipped where no lab can be made.
make_lab() {
  LAB_NAME=test-$$ mpich_preload=$2
  export LAB_NAME
  # MPICH 4.0's own reduction gives wrong sums in communicators whose ranks alternate between hosts.
  export MPIR_CVAR_REDUCE_DEVICE_COLLECTIVE=0
  at_end='"$lab" down'
  # Takes down the labs of tests that were killed.
  for old in $("$lab" list | sed -n 's/^test-\([0-9]*\) .*/\1/p'); do
    [ -d "/proc/$old" ] || "$lab" --name "test-$old" down
  done
  hosts='' ranks=0 index=0
  for count in $(echo "$1" | tr + ' '); do
    hosts=$hosts${hosts:+,}h$index:$count ranks=$((ranks + count)) index=$((index + 1))
  done
  "$lab" up "$index"
  case $? in
    0) ;;
    3) skip 'no lab can be made here' ;;
    *) exit 1 ;;
  esac
  left_over() { "$lab" left; }
}

# job SECONDS PLACEMENT COMMAND...: runs the command on all hosts; PLACEMENT is block or turns. Open
# MPI's launcher gives up before the program has started if a daemon does not answer at once: the
# job is then started again.
job() {
  seconds=$(patient "$1") placement=$2
  shift 2
  [ "$placement" = block ] || set -- --round-robin -- "$@"
  [ "$placement" = turns ] || set -- -- "$@"
  if [ "$family" = mpich ]; then preload=$mpich_preload; else preload=''; fi
  for _ in 1 2 3 4; do
    SUMAC_TEST_SECONDS=$seconds LD_PRELOAD=$preload \
      "$lab" run --mpi "$family" --launcher "$launcher" --hosts "$hosts" -n "$ranks" \
      --timeout $((seconds + 5)) "$@" >"$scratch/job" 2>"$scratch/job-err"
    job_status=$?
    grep -q '^ORTE does not know how to route' "$scratch/job-err" || break
  done
  cat "$scratch/job"
  cat "$scratch/job-err" >&2
  return $job_status
}

# `sh -c "$on_host" HOST NAME=VALUE COMMAND...` runs the command, with the variable set on this host
# only.
on_host='[ "$(hostname)" = "$0" ] || shift; exec env "$@"'
