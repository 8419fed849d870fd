# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# Sourced: makes a lab for one test and takes it down however the test ends. Needs $family,
# $launcher, $sumac (bin/sumac) and $mpich_preload (the library made from mpich.c).
lab=$(dirname "$0")/../../scripts/lab
LAB_NAME=test-$$
export LAB_NAME
unset OMPI_COMM_WORLD_RANK OMPI_COMM_WORLD_SIZE PMI_RANK PMI_SIZE PMIX_RANK SLURM_PROCID
unset SUMAC_DISABLE SUMAC_DEBUG LD_PRELOAD
. "$(dirname "$0")/../patience.sh"
output=$(mktemp)
trap 'rm -rf "$output"* "${scratch:-$output}"; "$lab" down' EXIT
trap 'exit 1' INT TERM HUP

# make_lab LAYOUT: the number of ranks on each host, such as 2+1+2. Sets $hosts and $ranks. Ends the
# test as skipped where no lab can be made.
make_lab() {
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
    3) echo "SKIPPED: no lab can be made here" && exit 77 ;;
    *) exit 1 ;;
  esac
}

# MPICH 4.0's own reduction gives wrong sums in communicators whose ranks alternate between hosts.
export MPIR_CVAR_REDUCE_DEVICE_COLLECTIVE=0

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
      --timeout $((seconds + 5)) "$@" >"$output.job" 2>"$output.job-err"
    job_status=$?
    grep -q '^ORTE does not know how to route' "$output.job-err" || break
  done
  cat "$output.job"
  cat "$output.job-err" >&2
  return $job_status
}

# Waits for leftovers on the hosts to disappear, and prints those that stay. True when there are
# none.
nothing_left() {
  attempt=0
  while [ "$attempt" -lt 50 ]; do
    attempt=$((attempt + 1))
    left=$("$lab" left)
    [ -n "$left" ] || return 0
    sleep 0.1
  done
  echo "left over: $left"
  return 1
}
