#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# lone_rank.sh lone_rank FAMILY LAUNCHER SUMAC PROGRAM STUB OTHER_LAUNCHER OTHER_PROGRAM: a program
# started by the launcher of another MPI must give one warning per job. A job that is meant to have
# one rank must give none.
. "$(dirname "$0")/../launch.sh"
unset SLURM_STEP_NUM_TASKS MPI_LOCALNRANKS HYDI_CONTROL_FD

lone_rank() {
  stub=$1 other_launcher=$2 other_program=$3
  case $family in
    openmpi) name='Open MPI' told='PMI_SIZE' by="MPICH's launcher" ;;
    *) name=MPICH told='OMPI_COMM_WORLD_SIZE' by="Open MPI's launcher" ;;
  esac
  printf '#!/bin/sh\n"$@"\n' >"$scratch/wrapper"
  chmod +x "$scratch/wrapper"
  other_launchers
  one_rank_as_asked
  jobs_in_jobs
  spawned
  variables_of_others
}

right() { launch_words 60 "$@"; }
# other -n RANKS COMMAND... starts a job by the other launcher. Each of its processes is a job of
# its own for Open MPI, and has a folder of its own: making one and the same at once fails.
other() {
  processes=$2
  shift 2
  (launcher=$other_launcher && launch_words 60 -n "$processes" sh -c '
    OMPI_MCA_orte_tmpdir_base=$(mktemp -d "$0/job.XXXXXX")
    export OMPI_MCA_orte_tmpdir_base
    exec "$@"' "$scratch" "$@")
}
# worlds N SIZE [WORD]: checks that N processes printed a world of SIZE ranks.
worlds() {
  expect_status 0
  found=$(grep -c "^${3:-world} of $2\$" "$out")
  [ "$found" = "$1" ] || fail "$found processes, not $1, say ${3:-world} of $2"
}
# quiet N SIZE [WORD] checks that Sumac says nothing, too.
quiet() {
  worlds "$@"
  expect_warnings 0
}
# alone COMMAND... starts a program that is meant to have one rank.
alone() {
  run "$@"
  quiet 1 1
}
# apart N COMMAND... starts a job that falls into N worlds of one rank, and expects one warning.
apart() {
  number=$1
  shift
  run "$@"
  worlds "$number" 1
  expect_warnings 1 "sumac: warning[lone-ranks]: $by started $number processes, but"
  expect_err "  found: $told=$number; the program's MPI is /"
  expect_err "($name)"
  expect_err "  fix:   start it with the mpiexec of $name: sumac run --mpi $family."
}

other_launchers() {
  for ranks in 2 3; do
    case $ranks in
      2) some=nice more=$scratch/wrapper ;;
      *) some='env A=1' more="$scratch/wrapper env nice" ;;
    esac
    for wrapper in "$some" "$more"; do
      apart $ranks other -n $ranks "$sumac" exec -- $wrapper "$program"
    done
    apart $ranks other -n $ranks env LD_PRELOAD="$stub" "$program" thread
    # The program's own launcher may have the same wrappers.
    run right -n $ranks "$sumac" exec -- env A=1 "$scratch/wrapper" "$program"
    quiet $ranks $ranks
  done
  apart 2 other -n 2 "$sumac" exec -- sh -c "exec $program"
  run other -n 2 env SUMAC_DEBUG=off LD_PRELOAD="$stub" "$program"
  quiet 2 1
}

# A program has one rank as asked for without a launcher, or by a launcher with one rank.
one_rank_as_asked() {
  alone env LD_PRELOAD="$stub" "$program"
  alone right -n 1 "$sumac" exec -- "$program"
  alone other -n 1 "$sumac" exec -- env A=1 "$program"
}

# A job may have several programs.
jobs_in_jobs() {
  run right -n 1 "$sumac" exec -- "$program" : -n 2 "$sumac" exec -- "$program" thread
  quiet 3 3
  # A launcher is started inside a job.
  run other -n 2 "$sumac" exec -- "$launcher" -n 1 "$program"
  case $(cat "$err") in
    *'does not support recursive calls'*) ;; # Open MPI knows that it is in somebody's job
    *) worlds 2 1 ;;
  esac
  expect_warnings 0
  # A rank runs a serial tool of the other MPI by a shell.
  run right -n 2 "$sumac" exec -- "$program" run "true; $other_program"
  worlds 2 2
  quiet 1 1
}

# Debian's MPICH 4.0 cannot spawn processes. This is tested without Sumac, by the exit status,
# because the output of a rank that aborts may be lost.
spawned() {
  if right -n 2 "$program" spawn 1 >/dev/null 2>&1; then counts='1 2'; else counts=''; fi
  for ranks in $counts; do
    # Spawned processes inherit the launcher's environment, not that of the ranks.
    run env LD_PRELOAD="$stub" SUMAC_TEST_JOB="$job_mark" timeout "$(patient 60)" "$launcher" -n 2 \
      "$program" spawn $ranks
    worlds 2 2
    quiet $ranks $ranks spawned
  done
}

# The variables are those of the launcher of another installation of the same MPI.
variables_of_others() {
  case $family in
    openmpi) own='OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_RANK=0' ;;
    *) own='PMI_SIZE=4 PMI_RANK=0' ;;
  esac
  run env $own LD_PRELOAD="$stub" "$program"
  worlds 1 1
  expect_warnings 1 "  fix:   start it with the mpiexec installed with this $name."

  # Slurm sets variables for steps. Those of its allocation say nothing about programs that a job
  # script starts.
  run env SLURM_STEP_NUM_TASKS=2 SLURM_PROCID=0 LD_PRELOAD="$stub" "$program"
  expect_warnings 1 "warning[lone-ranks]: srun started 2 processes, but"
  expect_err "; or srun --mpi=pm"
  for procid in 1 7; do
    alone env SLURM_STEP_NUM_TASKS=8 SLURM_PROCID=$procid LD_PRELOAD="$stub" "$program"
  done
  alone env SLURM_NTASKS=2 SLURM_PROCID=0 LD_PRELOAD="$stub" "$program"
}

run_job_case "$@"
