#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# backend.sh backend LIBSUMAC PROGRAMS: the stub finds and starts a back end, or prints why not.
. "$(dirname "$0")/../expect.sh"

backend() {
  programs=$2 backend=$scratch/libsumac-openmpi.so
  cp "$1" "$scratch/libsumac.so"
  starts
  is_found
}

# with MODE COMMAND...: runs a program with the stub preloaded and the fake Open MPI as its MPI.
with() {
  mode=$1 program=$2
  shift 2
  run env LD_PRELOAD="$scratch/libsumac.so" FAKE_BACKEND="$mode" "$programs/$program" "$@"
}

starts() {
  with take threads_openmpi
  expect_status 0
  expect_warnings 1 "sumac: warning[no-backend]: no libsumac-openmpi.so in $scratch, and "

  cp "$programs/libfake_backend.so" "$backend"
  with take calls_openmpi api
  expect_status 0
  expect_err "backend barrier"
  expect_warnings 0
  expect_out "before: version $version, active 0, native MPI_Barrier, no cancel 1, no such 1"
  expect_out "after: version $version, active 1, native MPI_Barrier, no cancel 1, no such 1"
  expect_out "path 'fake path', 'fake description'"

  # The back end is started once, however many threads call first, and none of their calls bypasses
  # it.
  for _ in 1 2 3 4 5 6 7 8; do
    with take threads_openmpi
    expect_status 0
    expect_times 1 'backend started'
    expect_times 6400 'backend barrier'
  done

  for mode in reenter unwind memory; do
    with $mode calls_openmpi api
    expect_status 0
    expect_err "backend started"
    expect_err "backend barrier"
    expect_warnings 0
  done
  with reenter calls_openmpi api
  expect_err "backend reentered"
  with memory calls_openmpi api
  expect_err "backend caught memory calls"
  succeeds env LD_PRELOAD="$programs/libown_mremap.so:$scratch/libsumac.so" FAKE_BACKEND=memory \
    "$programs/calls_openmpi" api
  expect_warnings 1 "memory calls do not arrive"

  with decline threads_openmpi
  expect_status 0
  expect_warnings 1 "sumac: warning[backend-declined]: "
  expect_err "it was asked to decline; running without Sumac"
  expect_no_line 'backend barrier' # a back end that declines keeps no redirection

  succeeds env LD_PRELOAD="$scratch/libsumac.so" SUMAC_DISABLE=1 FAKE_BACKEND=take \
    "$programs/calls_openmpi" api
  expect_silence
}

# The back end is found in sumac/ beside the stub, and with a relative LD_PRELOAD in any working
# directory.
is_found() {
  mkdir "$scratch/sumac"
  mv "$backend" "$scratch/sumac/"
  with take calls_openmpi api
  expect_err "backend barrier"
  cd "$scratch" || exit 1
  succeeds env LD_PRELOAD=./libsumac.so FAKE_BACKEND=take "$programs/open_late" cd \
    "$programs/libplugin_openmpi.so" plugin
  expect_out "plugin 1"
  expect_err "backend barrier"

  echo "not a library" >"$scratch/sumac/libsumac-openmpi.so"
  with take threads_openmpi
  expect_status 0
  expect_warnings 1 "sumac: warning[bad-backend]: "
}

run_case "$@"
