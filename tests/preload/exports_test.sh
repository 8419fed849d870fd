#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# exports_test.sh LIBSUMAC SOURCE_DIR: libsumac.so exports exactly the functions in the tables, and
# depends on nothing that a process without MPI might lack.
. "$(dirname "$0")/check.sh"
library=$1 source=$2

rows=$source/src/interpose/calls.def
sed -nE 's/^SUMAC_(CALL|COLLECTIVE|COUNTED)\((\w+).*/\2/p' "$rows" >"$scratch/calls"
sed -n 's/^SUMAC_OTHER_NAME(\(.*\), .*)$/\1/p' "$rows" >"$scratch/others"
{
  cat "$scratch/others"
  sed 's/^/P/' "$scratch/others"
  sed 's/^/MPI_/' "$scratch/calls"
  sed 's/^/PMPI_/' "$scratch/calls"
  # Not their default versions, which dlsym() finds.
  printf 'madvise@GLIBC\nmremap@GLIBC\nGLIBC\n'
  grep -o 'sumac_[a-z_]*(' "$source/include/sumac/sumac.h" | tr -d '('
} | LC_ALL=C sort -u >"$scratch/expected"
nm -D --defined-only "$library" | awk '{print $3}' |
  sed 's/GLIBC_[0-9.]*$/GLIBC/' | LC_ALL=C sort >"$scratch/exported"

run diff "$scratch/expected" "$scratch/exported"
expect_status 0
[ "$(grep -c . "$scratch/calls")" -ge 134 ] || fail "not 134 calls or more"

run sh -c "nm -D --undefined-only '$library' | grep -E 'MPI|_Z|GOMP|omp_|__kmpc'"
expect_status 1
run sh -c "readelf -dW '$library' | grep NEEDED | grep -v -E 'lib(c|dl|pthread)\.so'"
expect_status 1
run sh -c "readelf -SW '$library' | grep -E '\.(init|ctors|preinit|fini)'"
expect_status 1
run readelf -dW "$library"
expect_out NOW
finish
