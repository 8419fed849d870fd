# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# Sourced by tests that start jobs of an MPI, in place of expect.sh. A script whose cases are
# functions ends with `run_job_case "$@"`.
tests=${tests:-$(dirname "$0")/..}
# shellcheck source=tests/expect.sh
. "$tests/expect.sh"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none
# Open MPI takes ob1 on a machine without a fabric, after it has looked for one, which doubles the
# start of a job. Where memory is promoted the default stays: what it loads catches memory calls.
[ -n "${SUMAC_PROMOTE:-}" ] || export OMPI_MCA_pml="${OMPI_MCA_pml:-ob1}"
# Tests ask how a call was served, which must not depend on what happens to be faster.
export SUMAC_ADAPT="${SUMAC_ADAPT:-off}"
# Their communicators are set up in the second call, also if the ranks have met before.
export SUMAC_KNOWN_AFTER="${SUMAC_KNOWN_AFTER:-1}"
unset OMPI_COMM_WORLD_RANK OMPI_COMM_WORLD_SIZE PMI_RANK PMI_SIZE PMIX_RANK SLURM_PROCID
job_mark=$scratch/job
: >"$job_mark"

# run_job_case CASE FAMILY LAUNCHER SUMAC PROGRAM ARGUMENTS...: runs one of the script's functions,
# with the ARGUMENTS, and looks whether its jobs leave anything behind.
run_job_case() {
  case=$1 family=$2 launcher=$3 sumac=$4 program=$5
  shift 5
  "$case" "$@"
  nothing_left || fail 'something is left'
  finish
}

# launch SECONDS RANKS PROGRAM [ARGUMENTS]: runs the program under Sumac. Returns its status, or 124
# after SECONDS.
launch() {
  seconds=$1 ranks=$2
  shift 2
  launch_plain "$seconds" "$ranks" "$sumac" exec -- "$@"
}

# launch_plain does the same without `sumac exec`.
launch_plain() {
  seconds=$1 ranks=$2
  shift 2
  launch_words "$seconds" -n "$ranks" "$@"
}

# launch_words SECONDS WORDS... passes the launcher its own arguments. Open MPI's jobs of one
# user share a folder unless they are given one each; one job may remove it while another one makes
# it. SUMAC_TEST_FRONT is a command in front of the launcher.
launch_words() {
  seconds=$(patient "$1") job_folder=$(mktemp -d)
  shift
  SUMAC_TEST_JOB=$job_mark SUMAC_TEST_SECONDS=$seconds OMPI_MCA_orte_tmpdir_base=$job_folder \
    timeout -k 5 $((seconds + 5)) ${SUMAC_TEST_FRONT:-} "$launcher" "$@"
  job_status=$?
  rm -rf "$job_folder"
  return "$job_status"
}

# Lists what jobs left behind: their processes. Sumac's files in memory end with these.
left_over() { env -u SUMAC_TEST_JOB grep -lzsx "SUMAC_TEST_JOB=$job_mark" /proc/[0-9]*/environ; }

# Waits for leftovers to disappear, and prints those that stay. True when there are none.
nothing_left() {
  wait_until 5 is_clean && return
  echo "left over: $left"
  return 1
}
is_clean() {
  left=$(left_over)
  [ -z "$left" ]
}

# own_mounts ARGUMENTS...: starts the case, with these arguments, where it may mount what it likes,
# and does not come back. In the case that was started so, it does nothing.
own_mounts() {
  [ -z "${SUMAC_TEST_OWN_MOUNTS:-}" ] || return 0
  { [ "$(id -u)" = 0 ] && unshare -m true; } || skip 'nothing can be mounted'
  SUMAC_TEST_OWN_MOUNTS=yes \
    unshare -m sh "$0" "$case" "$family" "$launcher" "$sumac" "$program" "$@"
  exit
}

# mount_shm SIZE: /dev/shm is an empty one from now on, of which the MPI itself needs little.
mount_shm() {
  export OMPI_MCA_btl_vader_backing_directory=/tmp MPIR_CVAR_ENABLE_INTRANODE_COLLECTIVES=0
  mount -t tmpfs -o "size=$1,mode=1777" none /dev/shm || skip 'nothing can be mounted'
}

# memory_group BYTES: makes a control group with that limit of memory and no swap, below this
# process's own or at the top, and sets $group to its folder. `sh -c "$in_group" "$group"
# COMMAND...` runs a command in it.
memory_group() {
  own=$(sed -n 's/^[0-9]*:memory:/memory/p; s/^0:://p' /proc/self/cgroup | head -n 1)
  for parent in "/sys/fs/cgroup/$own" /sys/fs/cgroup; do
    group=$parent/sumac-test-$$
    mkdir "$group" 2>/dev/null || continue
    at_end='rmdir "$group" 2>/dev/null || { sleep 1 && rmdir "$group"; }'
    limit_memory "$1" && return
    rmdir "$group"
    at_end=''
  done
  skip 'no control group can be made'
}
limit_memory() {
  for limit in memory.max memory.limit_in_bytes; do
    [ -w "$group/$limit" ] && echo "$1" >"$group/$limit" 2>/dev/null || continue
    for swap in memory.swap.max memory.swappiness; do
      [ ! -w "$group/$swap" ] || echo 0 >"$group/$swap"
    done
    return 0
  done
  return 1
}
in_group='echo $$ >"$0/cgroup.procs" && exec "$@"'
