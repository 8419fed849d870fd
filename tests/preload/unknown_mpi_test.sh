#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# unknown_mpi_test.sh LIBSUMAC PROGRAMS: in front of an MPI of no supported family, every call must
# arrive there unchanged, and one line must report that Sumac is not used.
. "$(dirname "$0")/check.sh"
programs=$2
cp "$1" "$scratch/libsumac.so"
preload="LD_PRELOAD=$scratch/libsumac.so"

for first in 0 1 2 3 4 5 6; do
  run env "$preload" "$programs/arguments" "$first"
  expect_status 0
  expect_out "arguments ok"
  expect_warnings 1
  expect_err "sumac: warning[unknown-mpi]: "
  expect_err "libfake_mpi.so"
  expect_err "; running without Sumac"
done

# No message when Sumac or its warnings are switched off, and on all ranks but the first.
for setting in SUMAC_DISABLE=1 SUMAC_DISABLE=yes SUMAC_DEBUG=off OMPI_COMM_WORLD_RANK=1 \
  PMI_RANK=7 PMIX_RANK=2 SLURM_PROCID=3; do
  run env "$preload" "$setting" "$programs/arguments" 0
  expect_status 0
  expect_silence
done
for setting in SUMAC_DISABLE=0 SUMAC_DISABLE= PMI_RANK=0; do
  run env "$preload" "$setting" "$programs/arguments" 0
  expect_status 0
  expect_warnings 1
done

run env "$preload" "$programs/threads"
expect_status 0
expect_out "6400 calls, 0 wrong"
expect_warnings 1

# Functions that this MPI lacks: one warning, an error, and large-count forms implemented by the
# plain ones.
for program in missing missing_static; do
  run env "$preload" "$programs/$program"
  expect_status 0
  expect_out "cancel 16, 0 wrong"
  expect_err "sumac: warning[missing-function]: MPI_Cancel was called"
  expect_err "sumac: warning[large-count]: MPI_Pack_c with a count of 4294967296"
  expect_warnings 3
done

run env "$preload" "$programs/api"
expect_status 0
inactive="version $version, active 0, native MPI_Barrier, no cancel 1, no such 1, path '', ''"
expect_out "before: $inactive"
expect_out "after: $inactive"
run "$programs/api"
expect_out "not loaded"
finish
