#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# others.sh CASE FAMILY LAUNCHER SUMAC PROGRAM ARGUMENTS...: others on the machine, or a library in
# the process, disturb a job. It does not notice.
. "$(dirname "$0")/../launch.sh"

# disturbed DISTURB HOW PROGRAMS: random programs, all of whose results are checked, while DISTURB,
# a library in front of them, disturbs each rank.
disturbed() {
  disturb=$1 programs=$3
  export SUMAC_TEST_DISTURB="$2"
  disturb 2 --first 500 --count "$programs" --calls 200
  disturb 3 --first 600 --count "$programs" --calls 100
  disturb 3 --first 700 --count "$programs" --calls 100 --threads 2
}
disturb() {
  ranks=$1
  shift
  run launch_plain 120 "$ranks" env LD_PRELOAD="$disturb" "$sumac" exec -- "$program" "$@"
  ! skipped || return
  expect_passed
  expect_warnings 0
  expect_times "$ranks" "^disturbed $SUMAC_TEST_DISTURB: [1-9]"
  grep "^disturbed" "$err"
}

# Another user of the machine has laid files, folders, links and pipes with all sorts of names into
# /dev/shm, and tries to look into a running job: by its files in memory, its memory, and `sumac
# doctor`. Nothing of that works.
outsiders() {
  as_victim "$sumac" --version >"$out" 2>&1 || skip 'this user cannot be other users'
  own_mounts
  mount_shm 256m
  chmod 755 "$scratch"
  mkdir -m 777 "$scratch/victim" "$scratch/attacker"
  as_attacker sh -c "$(sed -n '/^plant() {/,/^}/p' "$0")
    plant"
  listed >"$scratch/before"
  [ "$(find /dev/shm | wc -l)" -gt 200 ] || fail 'nothing was laid there'

  start_job
  attack
  [ -z "$(find /dev/shm -user 65534 -name 'sumac*')" ] || fail 'a file of the job has a name'
  : >"$scratch/victim/go"
  wait "$job"
  status=$?
  expect_passed
  expect_warnings 0
  listed >"$scratch/after"
  diff "$scratch/before" "$scratch/after" || fail "what lay in /dev/shm was changed"
  find /dev/shm -user 65533 -delete # so that the job's own would be seen
}

as_victim() { setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; }
as_attacker() {
  setpriv --reuid 65533 --regid 65533 --clear-groups env HOME="$scratch/attacker" "$@"
}
listed() { find /dev/shm -mindepth 1 ! -user 65534 -printf '%p %M %u %s %T@ %l\n' 2>&1 | sort; }

plant() {
  cd /dev/shm || exit 1
  for name in sumac sumac-0 sumac-1 sumac-world sumac-65534 '#1' '#12345'; do
    ln -s /etc/passwd "$name"
  done
  for name in sumac.0 sumac_0; do mkfifo -m 666 "$name"; done
  mkdir -m 000 sumac-dir
  for n in $(seq 200); do echo nonsense >"sumac-$n-$$" && chmod 666 "sumac-$n-$$"; done
}

# Starts the job in the background, and waits for the processes of its $ranks.
start_job() {
  command_line="goes_on as one user, while another one looks"
  as_victim env SUMAC_TEST_JOB="$job_mark" SUMAC_TEST_SECONDS="$(patient 60)" \
    HOME="$scratch/victim" TMPDIR="$scratch/victim" OMPI_MCA_orte_tmpdir_base="$scratch/victim" \
    timeout -k 5 "$(patient 70)" "$launcher" -n 3 "$sumac" exec -- "$program" goes_on \
    "$scratch/victim/go" >"$out" 2>"$err" &
  job=$!
  wait_until 30 three_processes || fail "ranks: $ranks"
}
three_processes() {
  ranks=$(sed -n 's/^process //p' "$out")
  [ "$(echo "$ranks" | wc -w)" = 3 ]
}

attack() {
  tries=0
  for process in $ranks; do
    refused ls "/proc/$process/fd"
    refused cat "/proc/$process/maps"
    refused ls "/proc/$process/map_files"
    refused head -c 1 "/proc/$process/mem"
    refused sh -c "kill -STOP $process"
    for file in /proc/"$process"/fd/*; do refused head -c 1 "$file"; done
  done
  echo "$tries tries by another user"
  [ "$tries" -gt 20 ] || fail "only $tries tries"
  for process in $job $ranks ''; do
    as_attacker "$sumac" doctor $process >"$scratch/seen" 2>&1
    ! grep 'MPI_COMM_WORLD\|allreduce\|rows of' "$scratch/seen" || fail "doctor tells another user"
  done
}

# refused COMMAND...: the attacker tries.
refused() {
  tries=$((tries + 1))
  ! as_attacker "$@" >"$scratch/seen" 2>/dev/null || fail "the other user may: $*"
}

run_job_case "$@"
