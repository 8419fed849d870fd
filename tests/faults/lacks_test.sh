#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# lacks_test.sh FAMILY LAUNCHER SUMAC PROGRAM CASE [NUMBER]: a case of lacks.cc.
#   shm_full PAGES       /dev/shm, of the job's own, is filled; 77 where none can be mounted
#   descriptors          one rank, or all, use up their file descriptors
#   file_limit           the limit of files' sizes sinks to nothing
#   many COMMUNICATORS   so many are alive at once
. "$(dirname "$0")/../preload/check.sh"
family=$1 launcher=$2 sumac=$3 program=$4 case=$5 number=${6:-}
if [ "$case" = shm_full ]; then
  [ "$(id -u)" = 0 ] && unshare -m true 2>"$err" || exit 77
  [ "${SUMAC_TEST_OWN_SHM:-}" = yes ] || SUMAC_TEST_OWN_SHM=yes exec unshare -m sh "$0" "$@"
  mount -t tmpfs -o size=32m,mode=1777 none /dev/shm || exit 77
  # The MPI itself needs no more of it once it has started.
  export OMPI_MCA_btl_vader_backing_directory=/tmp MPIR_CVAR_ENABLE_INTRANODE_COLLECTIVES=0
fi
. "$(dirname "$0")/../mpi/launch.sh"

# passes SECONDS RANKS ARGUMENTS...
passes() {
  seconds=$1 ranks=$2
  shift 2
  run launch "$seconds" "$ranks" "$program" "$case" "$@"
  expect_status 0
  expect_out 'passed: '
}

case $case in
  shm_full)
    passes 90 3 "$number"
    grep 'left to the MPI' "$out"
    grep -c '^sumac: ' "$err" | grep -qx '[01]' || fail 'more than one line'
    ;;
  descriptors)
    left=0
    for each in 0:0 0:1 0:3 2:0 2:1 2:3 -1:0 -1:1 -1:3; do
      passes 60 3 "${each%:*}" "${each#*:}"
      if grep -q '^0 of 4' "$out"; then
        left=$((left + 1))
        expect_err 'warning[handed-down]'
        expect_warnings 1
      else
        expect_out '4 of 4 communicators served'
        expect_warnings 0
      fi
    done
    echo "in $left of 9 jobs communicators were left to the MPI"
    [ "$left" -gt 0 ] || fail 'descriptors were never lacking'
    ;;
  file_limit)
    mkdir "$scratch/trace"
    export SUMAC_STATS="$scratch/stats.json" SUMAC_TRACE="$scratch/trace"
    passes 90 3
    expect_err 'warning[stats-file]'
    grep served "$out"
    ;;
  many)
    for ranks_of_job in 2 3; do
      passes 200 $ranks_of_job "$number"
      grep alive "$out"
    done
    ;;
esac
nothing_left || fail 'something is left'
finish
