#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# finds.sh CASE LIBSUMAC PROGRAMS ARGUMENTS...: libsumac.so finds the MPI that a call is meant for.
# No back end is beside it, so all it does is to pass on the calls.
. "$(dirname "$0")/../expect.sh"
stub=$2 programs=$3
preload=LD_PRELOAD=$scratch/libsumac.so
cp "$stub" "$scratch/libsumac.so"

with() { run env "$preload" "$@"; }
# well WARNINGS COMMAND...: it ends well, with so many lines from Sumac.
well() {
  warnings=$1
  shift
  with "$@"
  expect_status 0
  expect_warnings "$warnings"
}
quiet() {
  with "$@"
  expect_status 0
  expect_silence
}

# Programs without MPI run unchanged and print nothing more.
harmless() {
  quiet /bin/true
  with sh -c 'exit 3'
  expect_status 3
  expect_silence
  quiet env
  expect_out "$preload"
  with sh -c 'cat /dev/null | sort | sh -c "kill -TERM \$\$"; exit 7'
  expect_status 7
  command -v python3 >"$out" || return 0
  quiet python3 -c 'print(1)'
  expect_out 1
  quiet python3 -c 'import ctypes; print(ctypes.CDLL(None).sumac_active())'
  expect_out 0
}

# In front of an MPI of no supported family, every call must arrive there unchanged, and one line
# must report that Sumac is not used.
unknown_mpi() {
  calls=$programs/calls_mpi
  for first in 0 1 2 3 4 5 6; do
    well 1 "$calls" arguments "$first"
    expect_out "arguments ok"
    expect_err "sumac: warning[unknown-mpi]: "
    expect_err "libfake_mpi.so"
    expect_err "; running without Sumac"
  done

  # There is no message when Sumac or its warnings are off, nor on other ranks than the first.
  for setting in SUMAC_DISABLE=1 SUMAC_DISABLE=yes SUMAC_DEBUG=off OMPI_COMM_WORLD_RANK=1 \
    PMI_RANK=7 PMIX_RANK=2 SLURM_PROCID=3; do
    quiet "$setting" "$calls" arguments 0
  done
  for setting in SUMAC_DISABLE=0 SUMAC_DISABLE= PMI_RANK=0; do
    well 1 "$setting" "$calls" arguments 0
  done
  well 1 "$programs/threads"
  expect_out "6400 calls, 0 wrong"

  # Functions that this MPI lacks give a warning and an error; large-count forms are implemented by
  # the plain ones.
  for program in calls_mpi calls_static; do
    well 3 "$programs/$program" missing
    expect_out "cancel 16, 0 wrong"
    expect_err "sumac: warning[missing-function]: MPI_Cancel was called"
    expect_err "sumac: warning[large-count]: MPI_Pack_c with a count of 4294967296"
  done

  with "$calls" api
  expect_status 0
  inactive="version $version, active 0, native MPI_Barrier, no cancel 1, no such 1, path '', ''"
  expect_out "before: $inactive"
  expect_out "after: $inactive"
  run "$calls" api
  expect_out "not loaded"
}

# The MPI is found in whatever scope it is, and however late it is loaded.
lookup() {
  mpi=$programs/libplugin_mpi.so openmpi=$programs/libplugin_openmpi.so
  late=$programs/open_late
  # A call before any MPI is loaded is an error each time, and has no effect on calls after one is.
  with "$late" call call "$mpi" plugin call
  expect_status 0
  expect_out "call 16"
  expect_out "plugin 1"
  expect_out "call 77"
  expect_times 2 'error\[no-mpi\]: MPI_Barrier was called, but no MPI'

  # An MPI opened with RTLD_LOCAL is only in the scope of the library that uses it.
  with "$late" "$mpi" plugin
  expect_out "plugin 1"
  expect_err "libfake_mpi.so is neither"

  # Of two MPIs each call goes to the caller's, in either order of loading.
  with "$late" "$openmpi" "$mpi" plugin
  expect_out "plugin 1"
  expect_err "libfake_mpi.so is neither"
  with "$late" "$mpi" "$openmpi" plugin
  expect_out "plugin 1"
  expect_err "libfake_openmpi.so needs it"
  no_calls
}

# Who asks for statistics or messages is told at the end of an MPI of which no call came.
no_calls() {
  opened="$late $programs/libfake_mpi.so"
  for asked in SUMAC_STATS=yes SUMAC_STATS=json SUMAC_DEBUG=info; do
    well 1 $asked $opened
    expect_err "warning[no-calls]: $programs/libfake_mpi.so is in this process, but no call"
    quiet $asked true
  done
  for hushed in SUMAC_STATS= SUMAC_STATS=no SUMAC_DEBUG=off "SUMAC_STATS=yes SUMAC_DEBUG=off"; do
    quiet $hushed $opened
  done
  with SUMAC_STATS=yes "$late" "$mpi" plugin
  expect_warnings 1 "warning[unknown-mpi]"
}

# A call reaches the library that it would reach without Sumac, be it an MPI, another MPI, or a
# library that has nothing but functions of MPI's names. Each library counts its calls, and each
# plug-in prints those of its own library. It is tried in a program, and in plug-ins, in every order
# of opening and calling.
not_mpi() {
  mpi=$programs/libplugin_mpi.so openmpi=$programs/libplugin_openmpi.so
  stubs=$programs/libplugin_stubs.so late=$programs/open_late
  same 0 "$programs/threads_stubs"
  same 0 "$late" "$stubs" plugin plugin
  for first in "$mpi" "$openmpi"; do
    same 1 "$late" "$first" plugin "$stubs" plugin plugin
    same 1 "$late" "$stubs" plugin "$first" plugin plugin
    same 0 "$late" "$first" "$stubs" plugin plugin
  done
  same 1 "$late" "$mpi" plugin "$openmpi" plugin plugin "$stubs" plugin
  same 1 "$late" "$openmpi" plugin "$mpi" plugin plugin "$stubs" plugin
  same 1 "$late" "$mpi" "$openmpi" plugin "$mpi" plugin "$openmpi" plugin
}

# same WARNINGS COMMAND...: prints with Sumac what it prints without.
same() {
  warnings=$1
  shift
  "$@" >"$scratch/natively" 2>&1 || fail "$*: fails without Sumac"
  well "$warnings" "$@"
  cmp -s "$scratch/natively" "$out" || fail "natively: $(cat "$scratch/natively")"
  with SUMAC_DISABLE=1 "$@"
  expect_silence
  cmp -s "$scratch/natively" "$out" || fail "natively: $(cat "$scratch/natively")"
}

# real_mpi LIBSUMAC PROGRAMS FAMILY LAUNCHER: programs of a real MPI run unchanged, with one warning
# per job.
real_mpi() {
  family=$3 launcher=$4 sums=$2/sums_$3
  [ "$family" != openmpi ] || oversubscribe=--oversubscribe
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  unset OMPI_COMM_WORLD_RANK PMI_RANK PMIX_RANK SLURM_PROCID
  right 1 env "$preload" "$sums"
  stands_aside
  right 2 "$launcher" $oversubscribe -n 2 env "$preload" "$sums"
  stands_aside
  right 1 env "$preload" "$programs/open_late" "$programs/libsums_plugin_$family.so" sums
  stands_aside
  right 1 env "$preload" SUMAC_DISABLE=1 "$sums"
  expect_warnings 0
}
right() {
  size=$1
  shift
  succeeds timeout 300 "$@"
  expect_out "sums of $size ranks: right"
}
stands_aside() {
  expect_warnings 1 "sumac: warning[no-backend]: no libsumac-$family.so in $scratch"
}

run_case "$@"
