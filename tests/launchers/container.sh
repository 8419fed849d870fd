#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# container.sh KIND COMMAND [ARGUMENTS]: runs the command apart from the rest of the machine, as
# container engines do.
#   pids  a PID namespace of its own, and /proc for it; /dev/shm and IPC are those of the caller
#   all   namespaces of its own for processes, IPC and mounts; /dev/shm with 64 MB, Docker's default
kind=$1
shift
case $kind in
  pids) exec unshare --pid --mount --fork --kill-child --mount-proc "$@" ;;
  all)
    exec unshare --pid --ipc --mount --fork --kill-child --mount-proc sh -c \
      'mount -t tmpfs -o size=64m,mode=1777 tmpfs /dev/shm && exec "$@"' sh "$@"
    ;;
esac
exit 2
