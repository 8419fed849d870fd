#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# memory_limit_test.sh FAMILY LAUNCHER SUMAC PROGRAM: the ranks are in a control group whose memory
# does not suffice for the communicators that the program makes: the kernel ends a rank, and with it
# the job. Within SUMAC_SHM_BUDGET the job passes. Status 77 where no control group can be made.
. "$(dirname "$0")/../preload/check.sh"
family=$1 launcher=$2 sumac=$3 program=$4
. "$(dirname "$0")/../mpi/launch.sh"
if [ -e /sys/fs/cgroup/cgroup.controllers ]; then
  parent=/sys/fs/cgroup limit=memory.max swap=memory.swap.max
else
  parent=/sys/fs/cgroup/memory limit=memory.limit_in_bytes swap=memory.memsw.limit_in_bytes
fi
group=$parent/sumac-test-$$
mkdir "$group" 2>/dev/null || exit 77
trap 'rmdir "$group" 2>/dev/null || { sleep 1 && rmdir "$group"; }; rm -rf "$scratch"' EXIT
echo 300M >"$group/$limit" || exit 77
echo 300M >"$group/$swap" 2>/dev/null || echo 0 >"$group/$swap" 2>/dev/null

# inside ARGUMENTS...: the program, its ranks in the group.
inside() {
  launch_plain 60 3 sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$group" \
    "$sumac" exec -- "$program" many "$@"
}

SUMAC_SHM_BUDGET=16M run inside 300
expect_status 0
expect_out 'passed: '
SUMAC_SHM_BUDGET=4G run inside 1500
if [ "$status" = 0 ]; then
  fail 'the limit is too high to show anything'
fi
[ "$status" != 124 ] || fail 'the job did not end'
grep -q 'out of time\|FAILED' "$err" "$out" && fail 'the others did not end'
grep -qi 'signal 9\|rank-lost\|killed' "$err" "$out" || fail 'nobody says that a rank was killed'
nothing_left || fail 'something is left'
finish
