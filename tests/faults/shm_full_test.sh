#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# shm_full_test.sh FAMILY LAUNCHER SUMAC PROGRAM PAGES: /dev/shm, of the job's own, is filled.
# Status 77 where no file system can be mounted.
. "$(dirname "$0")/../preload/check.sh"
family=$1 launcher=$2 sumac=$3 program=$4 pages=$5
[ "$(id -u)" = 0 ] && unshare -m true 2>"$err" || exit 77
[ "${SUMAC_TEST_OWN_SHM:-}" = yes ] || SUMAC_TEST_OWN_SHM=yes exec unshare -m sh "$0" "$@"
mount -t tmpfs -o size=32m,mode=1777 none /dev/shm || exit 77
. "$(dirname "$0")/../mpi/launch.sh"
# The MPI itself needs no more of it once it has started.
export OMPI_MCA_btl_vader_backing_directory=/tmp MPIR_CVAR_ENABLE_INTRANODE_COLLECTIVES=0
run launch 90 3 "$program" shm_full "$pages"
expect_status 0
expect_out 'passed: '
grep 'left to the MPI' "$out"
grep -c '^sumac: ' "$err" | grep -qx '[01]' || fail 'more than one line'
nothing_left || fail 'something is left'
finish
