#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# environment_test.sh CASE FAMILY LAUNCHER SUMAC PROBE REFUSE: runs the probe in an
# environment that lacks something. Status 77 when this environment cannot be made here.
case=$1 family=$2 launcher=$3 sumac=$4 probe=$5 refuse=$6
. "$(dirname "$0")/../mpi/launch.sh"
output=$(mktemp)
trap 'rm -f "$output"' EXIT

fail() {
  cat "$output"
  echo "$case, $family: $1"
  exit 1
}

# right RANKS COMMAND...: must end with status 0 and right results.
right() {
  ranks=$1
  shift
  launch 60 "$ranks" "$@" >"$output" 2>&1 || fail "status $? with $ranks ranks"
  grep -q '^wrong 0$' "$output" || fail "results"
}

case $case in
  attach_refused)
    right 3 "$refuse" attach all "$probe"
    grep -q single_copy "$output" && fail "single copy was used"
    grep -q 'split_slots\|flat_slots' "$output" || fail "slots were not used"
    right 3 "$refuse" attach first "$probe"
    grep -q single_copy "$output" && fail "single copy was used though one rank is refused"
    right 3 "$probe"
    grep -q single_copy "$output" || fail "the test cannot tell: no single copy here at all"
    ;;
  small_shm)
    if [ "${SUMAC_TEST_SMALL_SHM:-}" != inside ]; then
      [ "$(id -u)" = 0 ] && unshare -m true || exit 77
      SUMAC_TEST_SMALL_SHM=inside exec unshare -m sh "$0" "$@"
    fi
    for kilobytes in 1024 64; do
      mount -t tmpfs -o "size=${kilobytes}k,mode=1777" none /dev/shm || exit 77
      export OMPI_MCA_btl_vader_backing_directory=/tmp MPIR_CVAR_ENABLE_INTRANODE_COLLECTIVES=0
      launch_plain 60 2 "$probe" >"$output" 2>&1 || exit 77 # this MPI itself cannot live there
      right 2 "$probe"
      if [ "$kilobytes" = 64 ]; then
        grep -q 'mpi: shared memory' "$output" || fail "not handed down"
      else
        grep -q 'allreduce 16 flat_lines' "$output" || fail "not served by small slots"
      fi
      umount /dev/shm
    done
    ;;
  rank_killed)
    began=$(date +%s)
    launch 60 3 "$probe" kill >"$output" 2>&1
    status=$?
    [ $status != 0 ] || fail "status 0"
    [ $(($(date +%s) - began)) -lt 50 ] || fail "ended by the time limit only"
    ;;
  crowd)
    for ranks in 8 13; do right "$ranks" "$probe"; done
    grep -q 'allreduce 1 flat_lines\|allreduce 16 flat_lines' "$output" || fail "not taken"
    ;;
esac
nothing_left || exit 1
