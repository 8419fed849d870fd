# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# Sourced: starts jobs of one MPI and checks that they leave nothing behind. Needs $family,
# $launcher and $sumac (bin/sumac), and $tests, the tests folder, if the caller is in another
# folder.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none
# Tests ask how a call was served, which must not depend on what happens to be faster.
export SUMAC_ADAPT="${SUMAC_ADAPT:-off}"
unset OMPI_COMM_WORLD_RANK OMPI_COMM_WORLD_SIZE PMI_RANK PMI_SIZE PMIX_RANK SLURM_PROCID
job_mark=$(mktemp)
. "${tests:-$(dirname "$0")/..}/patience.sh"

# launch SECONDS RANKS PROGRAM [ARGUMENTS]: runs the program under Sumac. Returns its status, or 124
# after SECONDS.
launch() {
  seconds=$1 ranks=$2
  shift 2
  launch_plain "$seconds" "$ranks" "$sumac" exec -- "$@"
}

# SUMAC_TEST_FRONT: a command in front of the launcher.
# launch_plain: the same without `sumac exec`. Open MPI's jobs of one user share a folder unless
# they are given one each; one job may remove it while another one makes it.
launch_plain() {
  seconds=$(patient "$1") ranks=$2 job_folder=$(mktemp -d)
  shift 2
  # shellcheck disable=SC2086
  SUMAC_TEST_JOB=$job_mark SUMAC_TEST_SECONDS=$seconds OMPI_MCA_orte_tmpdir_base=$job_folder \
    timeout -k 5 $((seconds + 5)) ${SUMAC_TEST_FRONT:-} "$launcher" -n "$ranks" "$@"
  job_status=$?
  rm -rf "$job_folder"
  return "$job_status"
}

# Lists what jobs left behind: their processes, and files of Sumac that no process uses any more.
left_over() {
  env -u SUMAC_TEST_JOB grep -lzsx "SUMAC_TEST_JOB=$job_mark" /proc/[0-9]*/environ
  for file in $(find /dev/shm -maxdepth 1 -name 'sumac-*' -newer "$job_mark" 2>/dev/null); do
    grep -lqs "$file" /proc/[0-9]*/maps || echo "$file"
  done
}

# Waits for leftovers to disappear, and prints those that stay. True when there are none.
nothing_left() {
  attempt=0
  while [ "$attempt" -lt 50 ]; do
    attempt=$((attempt + 1))
    left=$(left_over)
    if [ -z "$left" ]; then
      rm -f "$job_mark"
      return 0
    fi
    sleep 0.1
  done
  echo "left over after $attempt looks: $left"
  rm -f "$job_mark"
  return 1
}
