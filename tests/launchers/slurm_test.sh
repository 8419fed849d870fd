#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# slurm_test.sh FAMILY SUMAC PROBE: programs of one MPI as steps and jobs of Slurm. Runs inside
# slurm.sh; the probe is that of tests/environment, which checks its results.
family=$1 sumac=$2 probe=$3
tests=$(dirname "$0")/..
# shellcheck source=../mpi/launch.sh
. "$tests/mpi/launch.sh"
output=$(mktemp)
script=$(mktemp)
trap 'rm -f "$output" "$script"' EXIT
export SUMAC_TEST_JOB="${job_mark:?}" SUMAC_STATS=yes
PATH=$(cd "$tests/.." && pwd)/.venv/bin:$PATH # the Python with what 'sumac run' needs
limit="timeout -k 5 $(patient 60)"

# Debian's Open MPI speaks to Slurm by PMIx, and its MPICH by PMI.
case $family in
  openmpi) plugin=pmix ;;
  mpich) plugin=pmi2 ;;
esac

fail() {
  cat "$output"
  echo "slurm, $family: $1"
  exit 1
}

# expect_served: the ranks were one job of three, results are right, and Sumac served its calls.
expect_served() {
  grep -q '^wrong 0$' "$output" || fail "$1: results"
  grep -q 'sumac summary  rank 0 of 3' "$output" || fail "$1: not one job of three ranks"
  grep -q '^allreduce 16 flat_lines' "$output" || fail "$1: small calls are not served"
  grep -q '^allreduce 1048576 single_copy' "$output" || fail "$1: large calls are not served"
}

$limit srun --mpi="$plugin" -n 3 "$sumac" exec -- "$probe" >"$output" 2>&1 || fail "srun: status $?"
expect_served srun

cat >"$script" <<EOF
#!/bin/sh
#SBATCH -n 3
srun --mpi=$plugin $sumac exec -- $probe
EOF
$limit sbatch --wait -o "$output" "$script" || fail "sbatch: status $?"
expect_served sbatch

# The MPI's own launcher takes the allocation: as many ranks as it has.
$limit salloc -n 3 "$sumac" run -- "$probe" >"$output" 2>&1 || fail "salloc: status $?"
expect_served "salloc, sumac run"
grep -q "SLURM_NTASKS" "$output" || fail "the source of the number of ranks is not said"

cat >"$script" <<EOF
#!/bin/sh
#SBATCH -n 3
$sumac run -- $probe
EOF
$limit sbatch --wait -o "$output" "$script" || fail "sbatch, sumac run: status $?"
expect_served "sbatch, sumac run"

# With the wrong plugin, MPICH's ranks are so many jobs of one rank. (Open MPI's end by themselves.)
if [ "$family" = mpich ]; then
  for wrong in none pmix; do
    $limit srun --mpi=$wrong -n 2 "$sumac" exec -- "$probe" >"$output" 2>&1
    grep -q 'warning\[lone-ranks\]' "$output" || fail "--mpi=$wrong: no warning"
    grep -q 'srun --mpi=pmi2' "$output" || fail "--mpi=$wrong: what helps is not said"
  done
fi

$limit srun -K --mpi="$plugin" -n 3 "$sumac" exec -- "$probe" kill >"$output" 2>&1 &&
  fail "a rank was killed, but the step ends with status 0"

nothing_left || exit 1

# A job that nobody waits for: slurm.sh ends it before the daemons, or fails.
unset SUMAC_TEST_JOB
sbatch -n 1 -o /dev/null --wrap 'exec sleep 1000'
looks=0
until squeue -h -o %T | grep -q RUNNING; do
  looks=$((looks + 1))
  [ "$looks" -lt 300 ] || fail "the last job does not start"
  sleep 0.1
done
