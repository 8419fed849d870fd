#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# sumac exec reads from the program's file which MPI it needs, and holds that against the launcher.
. "$(dirname "$0")/prefix.sh"
openmpi=OMPI_COMM_WORLD_SIZE=2 hydra=MPI_LOCALNRANKS=2

for program in needs_openmpi needs_mpich needs_intel needs_mpiabi; do
  run "$sumac" exec "$programs/$program"
  expect_status 0
  expect_out "preload=$installed"
  expect_silence
done
# expect_match PROGRAM ENVIRONMENT...
expect_match() {
  program=$1
  shift
  run env "$@" "$sumac" exec "$programs/$program"
  expect_status 0
  expect_out "preload=$installed"
  expect_silence
}
expect_mismatch() {
  program=$1
  shift
  run env "$@" "$sumac" exec "$programs/$program"
  expect_error 3 abi-mismatch
}
expect_match needs_openmpi $openmpi
expect_match needs_mpich $hydra
expect_match needs_intel PMI_RANK=0
expect_match needs_mpiabi $openmpi
expect_match needs_mpiabi $hydra
expect_match needs_openmpi PMI_RANK=1 SLURM_PROCID=1
expect_match needs_mpich OMPI_MCA_btl=self
expect_match needs_mpich $openmpi $hydra
expect_mismatch needs_openmpi $hydra
expect_err "needs libmpi.so.40 (Open MPI), but MPICH's launcher started it"
expect_err "  found: MPI_LOCALNRANKS is set in the environment"
expect_err "  fix:   start it with the mpiexec of Open MPI"
expect_mismatch needs_openmpi PMI_RANK=0
expect_mismatch needs_mpich $openmpi
expect_err "needs libmpich.so.12 (MPICH), but Open MPI's launcher started it"
expect_mismatch needs_intel $openmpi

# Where LD_PRELOAD has no effect, it is not set, and the first rank says so.
for program in holds_mpi all_static; do
  [ -x "$programs/$program" ] || continue  # no static C library here
  run "$sumac" exec "$programs/$program"
  expect_status 0
  expect_warnings 1
  expect_err "sumac: warning[static-program]: "
  expect_err "running without Sumac"
  run env PMI_RANK=1 "$sumac" exec "$programs/$program"
  expect_silence
  run env SUMAC_DEBUG=off "$sumac" exec "$programs/$program"
  expect_silence
  run "$sumac" exec "$programs/$program"
  [ "$(cat "$out")" = "preload=" ] || fail "LD_PRELOAD was set"
done
finish
