#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# lookup_test.sh LIBSUMAC PROGRAMS: the MPI is found wherever it is, and whenever it comes.
. "$(dirname "$0")/check.sh"
programs=$2
cp "$1" "$scratch/libsumac.so"
with() { run env LD_PRELOAD="$scratch/libsumac.so" "$programs/open_late" "$@"; }

# No MPI at all: an error, twice; and not for ever.
with call call "$programs/libplugin_mpi.so" plugin call
expect_status 0
expect_out "call 16"
expect_out "plugin 1"
expect_out "call 77"
[ "$(grep -c 'error\[no-mpi\]: MPI_Barrier was called, but no MPI' "$err")" = 2 ] ||
  fail "not two errors"

# Opened RTLD_LOCAL: in no scope but its user's.
with "$programs/libplugin_mpi.so" plugin
expect_out "plugin 1"
expect_err "libfake_mpi.so is neither"

# Two MPIs: each time that of the caller, in either order of loading.
with "$programs/libplugin_openmpi.so" "$programs/libplugin_mpi.so" plugin
expect_out "plugin 1"
expect_err "libfake_mpi.so is neither"
with "$programs/libplugin_mpi.so" "$programs/libplugin_openmpi.so" plugin
expect_out "plugin 1"
expect_err "libfake_openmpi.so needs it"
finish
