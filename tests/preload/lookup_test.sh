#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# lookup_test.sh LIBSUMAC PROGRAMS: the MPI is found in whatever scope it is, and however late it is
# loaded.
. "$(dirname "$0")/check.sh"
programs=$2
cp "$1" "$scratch/libsumac.so"
with() { run env LD_PRELOAD="$scratch/libsumac.so" "$programs/open_late" "$@"; }

# A call before any MPI is loaded: an error each time, and no effect on calls after one is loaded.
with call call "$programs/libplugin_mpi.so" plugin call
expect_status 0
expect_out "call 16"
expect_out "plugin 1"
expect_out "call 77"
[ "$(grep -c 'error\[no-mpi\]: MPI_Barrier was called, but no MPI' "$err")" = 2 ] ||
  fail "not two errors"

# An MPI opened with RTLD_LOCAL is only in the scope of the library that uses it.
with "$programs/libplugin_mpi.so" plugin
expect_out "plugin 1"
expect_err "libfake_mpi.so is neither"

# Two MPIs: each call goes to the caller's MPI, in either order of loading.
with "$programs/libplugin_openmpi.so" "$programs/libplugin_mpi.so" plugin
expect_out "plugin 1"
expect_err "libfake_mpi.so is neither"
with "$programs/libplugin_mpi.so" "$programs/libplugin_openmpi.so" plugin
expect_out "plugin 1"
expect_err "libfake_openmpi.so needs it"

# An MPI of which no call came: said at the end to who asks for statistics or messages.
silent() {
  run env LD_PRELOAD="$scratch/libsumac.so" "$@"
  expect_status 0
  expect_silence
}
opened="$programs/open_late $programs/libfake_mpi.so"
for asked in SUMAC_STATS=yes SUMAC_STATS=json SUMAC_DEBUG=info; do
  # shellcheck disable=SC2086
  run env LD_PRELOAD="$scratch/libsumac.so" $asked $opened
  expect_status 0
  expect_warnings 1
  expect_err "warning[no-calls]: $programs/libfake_mpi.so is in this process, but no call"
  silent $asked true
done
# shellcheck disable=SC2086
for hushed in SUMAC_STATS= SUMAC_STATS=no SUMAC_DEBUG=off "SUMAC_STATS=yes SUMAC_DEBUG=off"; do
  silent $hushed $opened
done
run env LD_PRELOAD="$scratch/libsumac.so" SUMAC_STATS=yes "$programs/open_late" \
  "$programs/libplugin_mpi.so" plugin
expect_warnings 1
expect_err "warning[unknown-mpi]"
finish
