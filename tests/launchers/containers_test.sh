#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# containers_test.sh CASE FAMILY LAUNCHER SUMAC PROBE REFUSE: results are right in containers, and
# Sumac says why it is slower there.
#   job    the whole job in one container, where cross-memory attach is refused
#   ranks  each rank in a container of its own
#   pids   each rank in a PID namespace of its own, with the /dev/shm of all
case=$1 family=$2 launcher=$3 sumac=$4 probe=$5 refuse=$6
here=$(cd "$(dirname "$0")" && pwd)
tests=$here/..
# shellcheck source=../mpi/launch.sh
. "$tests/mpi/launch.sh"
output=$(mktemp)
trap 'rm -f "$output"' EXIT
[ "$(id -u)" = 0 ] && sh "$here/container.sh" all true || {
  echo "this user may make no namespaces"
  exit 77
}
PATH=$(cd "$tests/.." && pwd)/.venv/bin:$PATH # the Python with what 'sumac info' needs
export SUMAC_STATS=yes SUMAC_DEBUG=info

fail() {
  cat "$output"
  echo "containers, $case, $family: $1"
  exit 1
}

has() { grep -q "$1" "$output" || fail "lacks: $1"; }

# The MPIs find each other's shared memory by process numbers, so that they must not try.
without_shared_memory() {
  export OMPI_MCA_btl=tcp,self MPIR_CVAR_NOLOCAL=1 UCX_TLS=tcp,self
}

case $case in
  job)
    if [ "${SUMAC_TEST_CONTAINER:-}" != inside ]; then
      rm -f "${job_mark:?}"
      SUMAC_TEST_CONTAINER=inside exec sh "$here/container.sh" all "$refuse" attach all \
        /bin/sh "$0" "$@"
    fi
    launch 120 3 "$probe" >"$output" 2>&1 || fail "status $?"
    has '^wrong 0$'
    has '^allreduce 1048576 \(flat\|split\)_slots'
    has 'sumac: slower: the system refuses cross-memory attach'
    has '^  slower .* the system refuses cross-memory attach'
    "$sumac" info >"$output" 2>&1
    [ $? = 3 ] || has 'cross-memory attach: refused (Operation not permitted)' # 3: no Python
    "$sumac" check -n 2 --mpi "$family" >"$output" 2>&1
    [ $? = 3 ] || has 'filter of system calls'
    ;;
  ranks | pids)
    without_shared_memory
    [ "$case" = ranks ] && kind=all || kind=pids
    launch_plain 120 2 sh "$here/container.sh" $kind "$probe" >"$output" 2>&1 || {
      echo "$family by itself cannot live there"
      exit 77
    }
    launch_plain 120 2 sh "$here/container.sh" $kind "$sumac" exec -- "$probe" >"$output" 2>&1 ||
      fail "status $?"
    has '^wrong 0$'
    has 'sumac summary  rank 0 of 2'
    has 'sumac: slower: ranks of this machine do not share'
    has '^  slower .* ranks of this machine do not share'
    ;;
esac
nothing_left || exit 1
