#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# in_slurm.sh CASE FAMILY LAUNCHER SUMAC PROGRAM: programs of one MPI as steps and jobs of Slurm.
# Runs inside slurm.sh; the program is the probe of tests/environment, which checks its results.
. "$(dirname "$0")/../launch.sh"

steps_and_jobs() {
  export SUMAC_TEST_JOB="$job_mark" SUMAC_STATS=yes
  PATH=$tests/../.venv/bin:$PATH # the Python with what 'sumac run' needs
  limit="timeout -k 5 $(patient 60)"
  # Debian's Open MPI speaks to Slurm by PMIx, and its MPICH by PMI.
  case $family in
    openmpi) plugin=pmix ;;
    mpich) plugin=pmi2 ;;
  esac
  run $limit srun --mpi="$plugin" -n 3 "$sumac" exec -- "$program"
  expect_served
  batch "srun --mpi=$plugin $sumac exec -- $program"
  # The MPI's own launcher takes the allocation: as many ranks as it has.
  run $limit salloc -n 3 "$sumac" run -- "$program"
  expect_served
  expect_line SLURM_NTASKS # where the number of ranks is from
  batch "$sumac run -- $program"
  [ "$family" != mpich ] || wrong_plugin

  run $limit srun -K --mpi="$plugin" -n 3 "$sumac" exec -- "$program" kill
  [ "$status" != 0 ] || fail "a rank was killed, but the step ends with status 0"
  nothing_left || fail 'something is left'
  not_waited_for
}

# The ranks were one job of three, results are right, and Sumac served its calls.
expect_served() {
  expect_status 0
  expect_line '^wrong 0$'
  expect_line 'sumac summary  rank 0 of 3'
  expect_line '^allreduce 16 flat_lines'
  expect_line '^allreduce 1048576 single_copy'
}

# batch COMMAND: as a job of three tasks.
batch() {
  printf '#!/bin/sh\n#SBATCH -n 3\n%s\n' "$1" >"$scratch/script"
  run $limit sbatch --wait -o "$scratch/output" "$scratch/script"
  cat "$scratch/output" >>"$out"
  expect_served
}

# With the wrong plugin, MPICH's ranks are so many jobs of one rank. (Open MPI's end by themselves.)
wrong_plugin() {
  for wrong in none pmix; do
    run $limit srun --mpi=$wrong -n 2 "$sumac" exec -- "$program"
    expect_line 'warning\[lone-ranks\]'
    expect_line 'srun --mpi=pmi2'
  done
}

# A job that nobody waits for: slurm.sh ends it before the daemons, or fails.
not_waited_for() {
  unset SUMAC_TEST_JOB
  sbatch -n 1 -o /dev/null --wrap 'exec sleep 1000'
  for _ in $(seq 300); do
    squeue -h -o %T | grep -q RUNNING && return
    sleep 0.1
  done
  fail "the last job does not start"
}

run_job_case "$@"
