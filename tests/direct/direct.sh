#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# direct.sh CASE FAMILY LAUNCHER SUMAC PROGRAM ARGUMENTS...: direct memory where something is
# unusual. The first cases are random rounds (tests/mpi/direct.cc), with ARGUMENTS ROUNDS and what
# is named here.
. "$(dirname "$0")/../launch.sh"
export SUMAC_PROMOTE=eager UCX_MEM_EVENTS=no

# rounds ROUNDS EXPECTED [BEFORE...] starts the rounds by the command BEFORE; they must pass.
rounds() {
  number=$1 expected=$2
  shift 2
  run launch_plain 300 2 env "$@" "$sumac" exec -- "$program" "$expected" "$number" \
    "${SUMAC_TEST_SEED:-11}"
  show
  expect_passed
}

# allocator ROUNDS SUMAC_LIBRARY ALLOCATOR preloads another malloc before libsumac.so. tcmalloc
# has an mremap() of its own, which Sumac would not see: nothing is promoted, but memory of
# MPI_Alloc_mem and windows may be in use.
allocator() {
  case $3 in
    *tcmalloc*) expected=auto ;;
    *) expected=eager ;;
  esac
  rounds "$1" $expected LD_PRELOAD="$3" SUMAC_DEBUG=info
  expect_line "malloc of $3"
  [ $expected = eager ] || expect_line 'no memory is promoted: calls of madvise or mremap'
}

# allocator_after ROUNDS SUMAC_LIBRARY ALLOCATOR preloads it behind libsumac.so. tcmalloc gives back
# late. So a long run comes to fork with much promoted memory, and from then on nothing is promoted.
allocator_after() {
  [ "$1" -gt 1000 ] && expected=auto || expected=eager
  rounds "$1" $expected LD_PRELOAD="$2:$3" SUMAC_STATS=yes
  [ $expected = eager ] || expect_line 'has forked with more than 16 MiB'
  expect_line "malloc of $3"
}

# Where the address space is limited, nothing is promoted.
address_limit() {
  rounds "$1" off SUMAC_DEBUG=info sh -c 'ulimit -v 16000000 && exec "$0" "$@"'
  expect_line 'no memory is promoted: a limit on the address space'
}

# The control group has little more memory than the ranks need.
memory_limit() {
  memory_group 400M
  rounds "$1" eager sh -c "$in_group" "$group"
}

# Under tools that follow memory nothing is promoted.
under_valgrind() {
  needs valgrind valgrind
  rounds "$1" off SUMAC_DEBUG=info valgrind --quiet --trace-children=yes
  expect_line 'no memory is promoted: valgrind or a sanitizer'
}
sanitized() {
  rounds "$1" off SUMAC_DEBUG=info ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0
  expect_line 'no memory is promoted: valgrind or a sanitizer'
}

# arrays ROUNDS SECONDS [WAY]: arrays.py by the Python PROGRAM; some calls must go direct: of arrays
# that are promoted, or that come into being in that way and are not.
arrays() {
  export OPENBLAS_NUM_THREADS=1
  [ $# -lt 3 ] || unset SUMAC_PROMOTE UCX_MEM_EVENTS
  "$program" -c 'import numpy, mpi4py' 2>/dev/null || skip 'Python lacks numpy or mpi4py'
  number=$1 time=$2
  shift 2
  run launch "$time" 2 "$program" "$tests/direct/arrays.py" "$number" 5 "$@"
  show
  expect_passed
  expect_line '; [1-9][0-9]* of [0-9]* calls went direct'
}

# core PYTHON: core files show promoted buffers.
core() {
  # The kernel must write core files where the process stands.
  case $(cat /proc/sys/kernel/core_pattern) in
    '' | \|* | /*) skip 'the kernel writes core files elsewhere' ;;
  esac
  mkdir "$scratch/core"
  run launch 120 2 "$program" core "$scratch/core"
  show
  ! skipped || exit 77
  set -- "$1" "$scratch"/core/*
  [ -f "$2" ] || fail 'there is no core file'
  buffer=$(sed -n 's/^buffer //p' "$out") # an address and a number
  succeeds "$1" "$tests/direct/core_file.py" "$2" $buffer
}

# A debugger reads and writes promoted buffers.
debugger() {
  needs gdb gdb
  run launch 120 2 "$program" debugger
  show
  ! skipped || exit 77
  expect_passed
}

run_job_case "$@"
