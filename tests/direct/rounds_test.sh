#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# rounds_test.sh CASE FAMILY LAUNCHER SUMAC PROGRAM ROUNDS [SUMAC_LIBRARY ALLOCATOR]: random rounds
# on direct memory (tests/mpi/direct.cc) where something is unusual. Status 77 where that cannot be
# made here.
#   allocator        another malloc by preload, before libsumac.so
#   allocator_after  the same behind libsumac.so
#   address_limit    limited address space: nothing is promoted
#   small_shm        a full /dev/shm; then a small one
#   memory_limit     a control group with little more memory than the ranks need
#   valgrind, sanitized   tools that follow memory: nothing is promoted
case=$1 family=$2 launcher=$3 sumac=$4 program=$5 rounds=$6 library=${7:-} allocator=${8:-}
tests=$(dirname "$0")/..
. "$tests/mpi/launch.sh"
export SUMAC_PROMOTE=eager UCX_MEM_EVENTS=no
output=$(mktemp)
group=
clean_up() {
  rm -f "$output"
  [ -z "$group" ] || rmdir "$group"
}
trap clean_up EXIT

fail() {
  echo "FAILED: $case: $1"
  exit 1
}

# rounds EXPECTED [BEFORE...]: the rounds, started by the command BEFORE; must pass.
rounds() {
  expected=$1
  shift
  launch_plain 300 2 env "$@" "$sumac" exec -- "$program" "$expected" "$rounds" "$seed" \
    >"$output" 2>&1
  status=$?
  cat "$output"
  [ "$status" = 0 ] || fail "status $status"
  grep -q '^passed: [1-9]' "$output" || fail 'it did not come to its end'
}

says() { grep -q "$1" "$output" || fail "it does not say '$1'"; }

seed=${SUMAC_TEST_SEED:-11}
case $case in
  allocator)
    # tcmalloc has an mremap() of its own, which Sumac would not see: nothing is promoted, but
    # memory of MPI_Alloc_mem and windows may be in use.
    case $allocator in
      *tcmalloc*) expected=auto ;;
      *) expected=eager ;;
    esac
    rounds $expected LD_PRELOAD="$allocator" SUMAC_DEBUG=info
    says "malloc of $allocator"
    [ $expected = eager ] || says 'no memory is promoted: calls of madvise or mremap'
    ;;
  allocator_after)
    # tcmalloc gives back late. So a long run comes to fork with much promoted memory, and from then
    # on nothing is promoted.
    [ "$rounds" -gt 1000 ] && expected=auto || expected=eager
    rounds $expected LD_PRELOAD="$library:$allocator" SUMAC_STATS=yes
    [ $expected = eager ] || says 'has forked with more than 16 MiB'
    says "malloc of $allocator"
    ;;
  address_limit)
    rounds off SUMAC_DEBUG=info sh -c 'ulimit -v 16000000 && exec "$0" "$@"'
    says 'no memory is promoted: a limit on the address space'
    ;;
  small_shm)
    if [ "${SUMAC_TEST_SMALL_SHM:-}" != inside ]; then
      [ "$(id -u)" = 0 ] && unshare -m true || exit 77
      SUMAC_TEST_SMALL_SHM=inside exec unshare -m sh "$0" "$@"
    fi
    export OMPI_MCA_btl_vader_backing_directory=/tmp MPIR_CVAR_ENABLE_INTRANODE_COLLECTIVES=0
    mount -t tmpfs -o size=16m,mode=1777 none /dev/shm || exit 77
    rounds auto SUMAC_TEST_FILL=/dev/shm/full
    says 'is full'
    rm -f /dev/shm/full
    umount /dev/shm
    mount -t tmpfs -o size=2m,mode=1777 none /dev/shm || exit 77
    rounds auto # by small slots, or by the MPI
    umount /dev/shm
    ;;
  memory_limit)
    . "$(dirname "$0")/memory_group.sh"
    group=$(make_memory_group 400M) || exit 77
    rounds eager sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$group"
    ;;
  valgrind)
    command -v valgrind >/dev/null || exit 77
    rounds off SUMAC_DEBUG=info valgrind --quiet --trace-children=yes
    says 'no memory is promoted: valgrind or a sanitizer'
    ;;
  sanitized)
    rounds off SUMAC_DEBUG=info ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0
    says 'no memory is promoted: valgrind or a sanitizer'
    ;;
  *) exit 2 ;;
esac
nothing_left
