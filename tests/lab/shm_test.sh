#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# shm_test.sh FAMILY LAUNCHER SUMAC PRELOAD PROGRAM PROBE: a budget that is too small, and hosts
# with little shared memory, almost none, or none that is writable. Where memory does not suffice,
# calls are handed down on all ranks for one reason, with right results; where a little is enough,
# they are served.
. "$(dirname "$0")/../preload/check.sh"
family=$1 launcher=$2 sumac=$3 mpich_preload=$4 program=$5 probe=$6
. "$(dirname "$0")/lab.sh"
make_lab 3+3
refused='shared memory is full or refused'

export SUMAC_SHM_BUDGET=64K
run job 180 block "$sumac" exec -- "$program" 'beyond SUMAC_SHM_BUDGET'
expect_status 0
expect_out "passed: "
expect_warnings 0
unset SUMAC_SHM_BUDGET

# With these settings the MPI itself needs little shared memory, or none.
export OMPI_MCA_btl_vader_backing_directory=/tmp MPIR_CVAR_ENABLE_INTRANODE_COLLECTIVES=0
for host in h0 h1; do
  for change in size=4096k size=64k ro; do
    "$lab" exec $host mount -o "remount,$change" /dev/shm || exit 77
    run job 180 block "$probe"
    if [ "$status" != 0 ]; then
      echo "not tried, the MPI itself cannot live there: $host, $change"
    elif [ $change = size=4096k ]; then
      # This host's slots are smaller than the other's.
      for algorithm in levels multi_leader; do
        export SUMAC_ALGO=allreduce:$algorithm
        run job 180 turns "$sumac" exec -- "$probe"
        expect_status 0
        expect_out "wrong 0"
        expect_out "allreduce 1048576 $algorithm"
        expect_warnings 0
      done
      unset SUMAC_ALGO
    else
      run job 180 turns "$sumac" exec -- "$program" "$refused" $host
      expect_status 0
      expect_out "passed: "
      expect_warnings 1
      expect_err "warning[handed-down]: a communicator of 6 ranks is left to the MPI: $refused"
    fi
    "$lab" exec $host mount -o "remount,rw,size=50%" /dev/shm || exit 1
  done
done
nothing_left || fail "something is left"
finish
