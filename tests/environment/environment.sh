#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# environment.sh CASE FAMILY LAUNCHER SUMAC PROGRAM REFUSE: the probe (probe.c) in places that lack
# something, and in containers. Results are right there, and Sumac says why it is slower.
. "$(dirname "$0")/../launch.sh"

# right COMMAND...: must end with status 0 and right results.
right() {
  succeeds "$@"
  expect_line '^wrong 0$'
}

# attach_refused REFUSE: cross-memory attach is refused to all ranks, to one, and to none.
attach_refused() {
  right launch 60 3 "$1" attach all "$program"
  expect_no_line single_copy
  expect_line 'split_slots|flat_slots'
  right launch 60 3 "$1" attach first "$program"
  expect_no_line single_copy
  right launch 60 3 "$program"
  expect_line single_copy # or the test cannot tell
}

# Sumac needs nothing of /dev/shm: not where it is small, nor full.
small_shm() {
  own_mounts
  for kilobytes in 1024 64; do
    mount_shm ${kilobytes}k
    run launch_plain 60 2 "$program"
    [ "$status" = 0 ] || skip 'this MPI itself cannot live there'
    right launch 60 2 "$program"
    expect_line 'allreduce 16 flat_lines'
    expect_line 'bcast 65536 slots' # however near the processors are
    umount /dev/shm
  done
}

crowd() {
  for ranks in 8 13; do right launch 60 "$ranks" "$program"; done
  expect_line 'allreduce (1|16) flat_lines'
}

# `container KIND COMMAND...` and `sh -c "$in_container" KIND COMMAND...` run the command apart from
# the rest of the machine, as container engines do.
#   pids  a PID namespace of its own, and /proc for it; /dev/shm and IPC are those of the caller
#   all   namespaces of its own for processes, IPC and mounts; /dev/shm with 64 MB, Docker's default
in_container='
[ "$0" = all ] || exec unshare --pid --mount --fork --kill-child --mount-proc "$@"
mount_shm="mount -t tmpfs -o size=64m,mode=1777 tmpfs /dev/shm"
exec unshare --pid --ipc --mount --fork --kill-child --mount-proc \
  sh -c "$mount_shm && exec \"\$@\"" sh "$@"'
container() { sh -c "$in_container" "$@"; }
may_make_containers() {
  { [ "$(id -u)" = 0 ] && container all true; } || skip 'this user may make no namespaces'
}

# job REFUSE: the whole job is in one container, where cross-memory attach is refused.
job() {
  may_make_containers
  run container all "$1" attach all \
    /bin/sh "$0" job_inside "$family" "$launcher" "$sumac" "$program"
  show
  expect_status 0
}
job_inside() {
  PATH=$tests/../.venv/bin:$PATH # the Python with what 'sumac info' needs
  export SUMAC_STATS=yes SUMAC_DEBUG=info
  right launch 120 3 "$program"
  expect_line '^allreduce 1048576 (flat|split)_slots'
  expect_line 'sumac: slower: the system refuses cross-memory attach'
  expect_line '^  slower .* the system refuses cross-memory attach'
  run "$sumac" info
  [ "$status" = 3 ] || # 3: no Python
    expect_line 'cross-memory attach: refused \(Operation not permitted\)'
  run "$sumac" check -n 2 --mpi "$family"
  [ "$status" = 3 ] || expect_line 'filter of system calls'
}

# Each rank is in a container of its own, or in a PID namespace of its own with the /dev/shm of all.
ranks() { in_containers all; }
pids() { in_containers pids; }
in_containers() {
  may_make_containers
  export SUMAC_STATS=yes SUMAC_DEBUG=info
  # The MPIs find each other's shared memory by process numbers, so that they must not try.
  export OMPI_MCA_btl=tcp,self MPIR_CVAR_NOLOCAL=1 UCX_TLS=tcp,self
  run launch_plain 120 2 sh -c "$in_container" "$1" "$program"
  [ "$status" = 0 ] || skip "$family by itself cannot live there"
  right launch_plain 120 2 sh -c "$in_container" "$1" "$sumac" exec -- "$program"
  expect_line 'sumac summary  rank 0 of 2'
  expect_line 'sumac: slower: ranks of this machine do not share'
  expect_line '^  slower .* ranks of this machine do not share'
}

run_job_case "$@"
