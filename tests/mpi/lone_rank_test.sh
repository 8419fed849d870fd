#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# lone_rank_test.sh FAMILY LAUNCHER SUMAC PROGRAM STUB OTHER_LAUNCHER OTHER_PROGRAM: a program
# started by the launcher of another MPI must give one warning per job. A job that is meant to have
# one rank must give none.
. "$(dirname "$0")/../preload/check.sh"
family=$1 launcher=$2 sumac=$3 program=$4 stub=$5 other_launcher=$6 other_program=$7
. "$(dirname "$0")/launch.sh"
unset SLURM_STEP_NUM_TASKS MPI_LOCALNRANKS HYDI_CONTROL_FD
case $family in
  openmpi) name='Open MPI' told='PMI_SIZE' by="MPICH's launcher" ;;
  *) name=MPICH told='OMPI_COMM_WORLD_SIZE' by="Open MPI's launcher" ;;
esac

other() { SUMAC_TEST_JOB=$job_mark timeout "$(patient 60)" "$other_launcher" "$@"; }
right() { SUMAC_TEST_JOB=$job_mark timeout "$(patient 60)" "$launcher" "$@"; }
# worlds N SIZE [WORD]: checks that N processes printed a world of SIZE ranks.
worlds() {
  expect_status 0
  found=$(grep -c "^${3:-world} of $2\$" "$out")
  [ "$found" = "$1" ] || fail "$found processes, not $1, say ${3:-world} of $2"
}
# apart N VARIABLE BY: checks for N worlds of one rank, and one warning.
apart() {
  worlds "$1" 1
  expect_warnings 1
  expect_err "sumac: warning[lone-ranks]: $3 started $1 processes, but"
  expect_err "  found: $2=$1; the program's MPI is /"
  expect_err "($name)"
  expect_err "  fix:   start it with the mpiexec of $name: sumac run --mpi $family."
}
quiet() { expect_warnings 0; }

printf '#!/bin/sh\n"$@"\n' >"$scratch/wrapper"
chmod +x "$scratch/wrapper"
for ranks in 2 3; do
  case $ranks in
    2) some=nice more=$scratch/wrapper ;;
    *) some='env A=1' more="$scratch/wrapper env nice" ;;
  esac
  for wrapper in "$some" "$more"; do
    # shellcheck disable=SC2086
    run other -n $ranks "$sumac" exec -- $wrapper "$program"
    apart $ranks $told "$by"
  done
  run other -n $ranks env LD_PRELOAD="$stub" "$program" thread
  apart $ranks $told "$by"
  # The program's own launcher, behind the same wrappers.
  run right -n $ranks "$sumac" exec -- env A=1 "$scratch/wrapper" "$program"
  worlds $ranks $ranks
  quiet
done
run other -n 2 "$sumac" exec -- sh -c "exec $program"
apart 2 $told "$by"
run env SUMAC_DEBUG=off timeout "$(patient 60)" "$other_launcher" -n 2 \
  env LD_PRELOAD="$stub" "$program"
worlds 2 1
quiet

# One rank as asked for: started without a launcher, or by a launcher with one rank.
run env LD_PRELOAD="$stub" "$program"
worlds 1 1
quiet
run right -n 1 "$sumac" exec -- "$program"
worlds 1 1
quiet
run other -n 1 "$sumac" exec -- env A=1 "$program"
worlds 1 1
quiet
# Several programs in one job.
run right -n 1 "$sumac" exec -- "$program" : -n 2 "$sumac" exec -- "$program" thread
worlds 3 3
quiet
# A launcher started inside a job.
run other -n 2 "$sumac" exec -- "$launcher" -n 1 "$program"
case $(cat "$err") in
  *'does not support recursive calls'*) ;; # Open MPI knows that it is in somebody's job
  *) worlds 2 1 ;;
esac
quiet
# A rank runs a serial tool of the other MPI by a shell.
run right -n 2 "$sumac" exec -- "$program" run "true; $other_program"
worlds 2 2
worlds 1 1
quiet
# Spawned processes. Debian's MPICH 4.0 cannot spawn. This is tested without Sumac, by the exit
# status, because the output of a rank that aborts may be lost.
if right -n 2 "$program" spawn 1 >/dev/null 2>&1; then counts='1 2'; else counts=''; fi
for ranks in $counts; do
  # Spawned processes inherit the launcher's environment, not that of the ranks.
  run env LD_PRELOAD="$stub" SUMAC_TEST_JOB="$job_mark" timeout "$(patient 60)" "$launcher" -n 2 \
    "$program" spawn $ranks
  worlds 2 2
  worlds $ranks $ranks spawned
  quiet
done

# The launcher of another installation of the same MPI.
case $family in
  openmpi) own='OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_RANK=0' ;;
  *) own='PMI_SIZE=4 PMI_RANK=0' ;;
esac
# shellcheck disable=SC2086
run env $own LD_PRELOAD="$stub" "$program"
worlds 1 1
expect_warnings 1
expect_err "  fix:   start it with the mpiexec installed with this $name."

# Steps of Slurm. The variables of its allocation say nothing about programs that a job script
# starts.
run env SLURM_STEP_NUM_TASKS=2 SLURM_PROCID=0 LD_PRELOAD="$stub" "$program"
expect_warnings 1
expect_err "warning[lone-ranks]: srun started 2 processes, but"
expect_err "; or srun --mpi=pm"
for procid in 1 7; do
  run env SLURM_STEP_NUM_TASKS=8 SLURM_PROCID=$procid LD_PRELOAD="$stub" "$program"
  worlds 1 1
  quiet
done
run env SLURM_NTASKS=2 SLURM_PROCID=0 LD_PRELOAD="$stub" "$program"
worlds 1 1
quiet
nothing_left || fail "something of a job is left"
finish
