#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# backend_test.sh LIBSUMAC PROGRAMS: the stub finds and starts a back end, or prints why not.
. "$(dirname "$0")/check.sh"
programs=$2
cp "$1" "$scratch/libsumac.so"
backend=$scratch/libsumac-openmpi.so
# with MODE COMMAND...: runs a program with the stub preloaded and the fake Open MPI as its MPI.
with() {
  mode=$1 program=$2
  shift 2
  run env LD_PRELOAD="$scratch/libsumac.so" FAKE_BACKEND="$mode" "$programs/$program" "$@"
}

with take threads_openmpi
expect_status 0
expect_warnings 1
expect_err "sumac: warning[no-backend]: no libsumac-openmpi.so in $scratch, and "

cp "$programs/libfake_backend.so" "$backend"
with take api_openmpi
expect_status 0
expect_err "backend barrier"
expect_warnings 0
expect_out "before: version $version, active 0, native MPI_Barrier, no cancel 1, no such 1"
expect_out "after: version $version, active 1, native MPI_Barrier, no cancel 1, no such 1"
expect_out "path 'fake path', 'fake description'"

# The back end is started once, however many threads call first, and none of their calls bypasses
# it.
for attempt in 1 2 3 4 5 6 7 8; do
  with take threads_openmpi
  expect_status 0
  [ "$(grep -c 'backend started' "$err")" = 1 ] || fail "attempt $attempt: not one start"
  [ "$(grep -c 'backend barrier' "$err")" = 6400 ] || fail "attempt $attempt: not every call"
done

for mode in reenter unwind memory; do
  with $mode api_openmpi
  expect_status 0
  expect_err "backend started"
  expect_err "backend barrier"
  expect_warnings 0
done
with reenter api_openmpi
expect_err "backend reentered"
with memory api_openmpi
expect_err "backend caught memory calls"
run env LD_PRELOAD="$programs/libown_mremap.so:$scratch/libsumac.so" FAKE_BACKEND=memory \
  "$programs/api_openmpi"
expect_status 0
expect_warnings 1
expect_err "memory calls do not arrive"

with decline threads_openmpi
expect_status 0
expect_warnings 1
expect_err "sumac: warning[backend-declined]: "
expect_err "it was asked to decline; running without Sumac"
[ "$(grep -c 'backend barrier' "$err")" = 0 ] || fail "a declining back end kept its redirection"

run env LD_PRELOAD="$scratch/libsumac.so" SUMAC_DISABLE=1 FAKE_BACKEND=take "$programs/api_openmpi"
expect_status 0
expect_silence

# The back end is found in sumac/ beside the stub, and with a relative LD_PRELOAD in any working
# directory.
mkdir "$scratch/sumac"
mv "$backend" "$scratch/sumac/"
with take api_openmpi
expect_err "backend barrier"
cd "$scratch" || exit 1
run env LD_PRELOAD=./libsumac.so FAKE_BACKEND=take "$programs/open_late" cd \
  "$programs/libplugin_openmpi.so" plugin
expect_status 0
expect_out "plugin 1"
expect_err "backend barrier"

echo "not a library" >"$scratch/sumac/libsumac-openmpi.so"
with take threads_openmpi
expect_status 0
expect_warnings 1
expect_err "sumac: warning[bad-backend]: "
finish
