#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# real_mpi_test.sh LIBSUMAC PROGRAMS FAMILY LAUNCHER: without a back end, programs of a real MPI run
# unchanged, with one warning per job.
. "$(dirname "$0")/check.sh"
programs=$2 family=$3 launcher=$4
cp "$1" "$scratch/libsumac.so"
preload="LD_PRELOAD=$scratch/libsumac.so"
[ "$family" = openmpi ] && oversubscribe=--oversubscribe
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
unset OMPI_COMM_WORLD_RANK PMI_RANK PMIX_RANK SLURM_PROCID

expect_standing_aside() {
  expect_status 0
  expect_warnings 1
  expect_err "sumac: warning[no-backend]: no libsumac-$family.so in $scratch"
}

run timeout 300 env "$preload" "$programs/sums_$family"
expect_standing_aside
expect_out "sums of 1 ranks: right"

run timeout 300 "$launcher" $oversubscribe -n 2 env "$preload" "$programs/sums_$family"
expect_standing_aside
expect_out "sums of 2 ranks: right"

run timeout 300 env "$preload" "$programs/open_late" "$programs/libsums_plugin_$family.so" sums
expect_standing_aside
expect_out "sums of 1 ranks: right"

run timeout 300 env "$preload" SUMAC_DISABLE=1 "$programs/sums_$family"
expect_status 0
expect_warnings 0
expect_out "sums of 1 ranks: right"
finish
