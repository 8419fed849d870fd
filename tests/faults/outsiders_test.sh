#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# outsiders_test.sh FAMILY LAUNCHER SUMAC PROGRAM: another user of the machine has laid files,
# folders, links and pipes with all sorts of names into /dev/shm, and tries to look into a running
# job: by its files in memory, its memory, and `sumac doctor`. Nothing of that works, and the job
# does not notice. Status 77 where the test cannot be other users.
. "$(dirname "$0")/../preload/check.sh"
family=$1 launcher=$2 sumac=$3 program=$4
[ "$(id -u)" = 0 ] && setpriv --reuid 65534 --regid 65534 --clear-groups "$sumac" --version \
  >"$out" 2>&1 || exit 77
[ "${SUMAC_TEST_OWN_SHM:-}" = yes ] || SUMAC_TEST_OWN_SHM=yes exec unshare -m sh "$0" "$@"
mount -t tmpfs -o size=256m,mode=1777 none /dev/shm || exit 77
. "$(dirname "$0")/../mpi/launch.sh"
chmod 755 "$scratch"
mkdir -m 777 "$scratch/victim" "$scratch/attacker"
as_victim() { setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; }
as_attacker() {
  setpriv --reuid 65533 --regid 65533 --clear-groups env HOME="$scratch/attacker" "$@"
}

plant() {
  cd /dev/shm || exit 1
  for name in sumac sumac-0 sumac-1 sumac-world sumac-65534 '#1' '#12345'; do
    ln -s /etc/passwd "$name"
  done
  for name in sumac.0 sumac_0; do mkfifo -m 666 "$name"; done
  mkdir -m 000 sumac-dir
  for n in $(seq 200); do echo nonsense >"sumac-$n-$$" && chmod 666 "sumac-$n-$$"; done
}
as_attacker sh -c "$(sed -n '/^plant() {/,/^}/p' "$0")
  plant"
listed() { find /dev/shm -mindepth 1 ! -user 65534 -printf '%p %M %u %s %T@ %l\n' 2>&1 | sort; }
listed >"$scratch/before"
[ "$(find /dev/shm | wc -l)" -gt 200 ] || fail 'nothing was laid there'

command_line="lacks nothing as one user, while another one looks"
as_victim env SUMAC_TEST_JOB="$job_mark" SUMAC_TEST_SECONDS="$(patient 60)" \
  HOME="$scratch/victim" TMPDIR="$scratch/victim" OMPI_MCA_orte_tmpdir_base="$scratch/victim" \
  timeout -k 5 "$(patient 70)" "$launcher" -n 3 "$sumac" exec -- \
  "$program" nothing "$scratch/victim/go" >"$out" 2>"$err" &
job=$!
for _ in $(seq 300); do
  [ "$(grep -c '^process' "$out")" = 3 ] && break
  sleep 0.1
done
ranks=$(sed -n 's/^process //p' "$out")
[ "$(echo "$ranks" | wc -w)" = 3 ] || fail "ranks: $ranks"

tries=0
# refused COMMAND...: the attacker tries.
refused() {
  tries=$((tries + 1))
  as_attacker "$@" >"$scratch/seen" 2>/dev/null || return
  fail "the other user may: $*"
}
for process in $ranks; do
  refused ls "/proc/$process/fd"
  refused cat "/proc/$process/maps"
  refused ls "/proc/$process/map_files"
  refused head -c 1 "/proc/$process/mem"
  refused sh -c "kill -STOP $process"
  for file in /proc/"$process"/fd/*; do refused head -c 1 "$file"; done
done
[ "$tries" -gt 20 ] || fail "only $tries tries"
for process in $job $ranks ''; do
  # shellcheck disable=SC2086
  as_attacker "$sumac" doctor $process >"$scratch/seen" 2>&1
  grep -q 'MPI_COMM_WORLD\|allreduce\|rows of' "$scratch/seen" &&
    fail "doctor tells another user: $(cat "$scratch/seen")"
done
[ -z "$(find /dev/shm -user 65534 -name 'sumac*')" ] || fail 'a file of the job has a name'

: >"$scratch/victim/go"
wait "$job"
status=$?
expect_status 0
expect_out 'passed: '
expect_warnings 0
listed >"$scratch/after"
diff "$scratch/before" "$scratch/after" >"$scratch/seen" ||
  fail "what lay in /dev/shm was changed: $(head -5 "$scratch/seen")"
echo "$tries tries by another user"
find /dev/shm -user 65533 -delete # so that the job's own would be seen
nothing_left || fail 'something is left'
finish
