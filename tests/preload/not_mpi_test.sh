#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# not_mpi_test.sh LIBSUMAC PROGRAMS: a call reaches the library that it would reach without Sumac,
# be it an MPI, another MPI, or a library that has nothing but functions of MPI's names. Each
# library counts its calls, and each plug-in prints those of its own library.
. "$(dirname "$0")/check.sh"
programs=$2
cp "$1" "$scratch/libsumac.so"
mpi=$programs/libplugin_mpi.so openmpi=$programs/libplugin_openmpi.so
stubs=$programs/libplugin_stubs.so

# same WARNINGS COMMAND...: prints with Sumac what it prints without.
same() {
  warnings=$1
  shift
  "$@" >"$scratch/natively" 2>&1 || fail "$*: fails without Sumac"
  run env LD_PRELOAD="$scratch/libsumac.so" "$@"
  expect_status 0
  expect_warnings "$warnings"
  cmp -s "$scratch/natively" "$out" || fail "$*: $(cat "$out"), not $(cat "$scratch/natively")"
  run env LD_PRELOAD="$scratch/libsumac.so" SUMAC_DISABLE=1 "$@"
  expect_silence
  cmp -s "$scratch/natively" "$out" || fail "switched off, $*: $(cat "$out")"
}

# In a program, and in plug-ins, in every order of opening and calling.
same 0 "$programs/threads_stubs"
same 0 "$programs/open_late" "$stubs" plugin plugin
for first in "$mpi" "$openmpi"; do
  same 1 "$programs/open_late" "$first" plugin "$stubs" plugin plugin
  same 1 "$programs/open_late" "$stubs" plugin "$first" plugin plugin
  same 0 "$programs/open_late" "$first" "$stubs" plugin plugin
done
same 1 "$programs/open_late" "$mpi" plugin "$openmpi" plugin plugin "$stubs" plugin
same 1 "$programs/open_late" "$openmpi" plugin "$mpi" plugin plugin "$stubs" plugin
same 1 "$programs/open_late" "$mpi" "$openmpi" plugin "$mpi" plugin "$openmpi" plugin
finish
