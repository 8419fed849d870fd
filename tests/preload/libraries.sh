#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# libraries.sh CASE ARGUMENTS...: what is in the libraries, and in the header with their hash.
. "$(dirname "$0")/../expect.sh"
source=$tests/..

# exports LIBSUMAC: it exports exactly the functions in the tables, and depends on nothing that a
# process without MPI might lack.
exports() {
  rows=$source/src/interpose/calls.def
  sed -nE 's/^SUMAC_(CALL|COLLECTIVE|COUNTED)\((\w+).*/\2/p' "$rows" >"$scratch/calls"
  sed -n 's/^SUMAC_OTHER_NAME(\(.*\), .*)$/\1/p' "$rows" >"$scratch/others"
  {
    cat "$scratch/others"
    sed 's/^/P/' "$scratch/others"
    sed 's/^/MPI_/' "$scratch/calls"
    sed 's/^/PMPI_/' "$scratch/calls"
    # These are not their default versions, which dlsym() finds.
    printf 'madvise@GLIBC\nmremap@GLIBC\nGLIBC\n'
    grep -o 'sumac_[a-z_]*(' "$source/include/sumac/sumac.h" | tr -d '('
  } | LC_ALL=C sort -u >"$scratch/expected"
  nm -D --defined-only "$1" | awk '{print $3}' |
    sed 's/GLIBC_[0-9.]*$/GLIBC/' | LC_ALL=C sort >"$scratch/exported"

  succeeds diff "$scratch/expected" "$scratch/exported"
  [ "$(grep -c . "$scratch/calls")" -ge 134 ] || fail "not 134 calls or more"

  run sh -c "nm -D --undefined-only '$1' | grep -E 'MPI|_Z|GOMP|omp_|__kmpc'"
  expect_status 1
  run sh -c "readelf -dW '$1' | grep NEEDED | grep -v -E 'lib(c|dl|pthread)\.so'"
  expect_status 1
  run sh -c "readelf -SW '$1' | grep -E '\.(init|ctors|preinit|fini)'"
  expect_status 1
  run readelf -dW "$1"
  expect_out NOW
}

# nothing_destroyed BACKEND: it destroys nothing when the process ends, since a program may call the
# MPI from a handler of atexit() or from a destructor that runs later.
nothing_destroyed() {
  # These functions register something to be done at the end. Those of the C++ run-time library,
  # which is linked in, register destructors that do nothing.
  succeeds sh -c "objdump -d --no-show-raw-insn '$1' >'$scratch/code'"
  awk '/^[0-9a-f]+ <.*>:$/ { name = $2; next }
       /<(__cxa_(thread_)?atexit(_impl)?|atexit|on_exit)[@>]/ { print name }
      ' "$scratch/code" | sort -u | c++filt >"$scratch/all"
  harmless='__cxa_atexit@plt|_GLOBAL__sub_I_(system_error|memory_resource)\.cc'
  harmless="$harmless"'|std::\(anonymous namespace\)::key_init\(\)|atexit'
  run grep -vE "^<($harmless)>:" "$scratch/all"
  [ "$status" = 1 ] || fail "these register a destructor; make the object by new"
  # It sees them where there are some.
  succeeds grep -q '<_GLOBAL__sub_I_system_error.cc>:' "$scratch/all"

  # One function runs at the end, the compiler's own.
  run sh -c "readelf -SW '$1' | sed -n 's/.* \.fini_array  *FINI_ARRAY//p'"
  expect_line '^ +[0-9a-f]+ [0-9a-f]+ 000008 '
}

# build_hash CMAKE SCRIPT: the hash of the sources is the same in any directory, and changes with
# the content or the name of a file.
build_hash() {
  cmake=$1 script=$2
  mkdir -p "$scratch/a/src" "$scratch/b c/src"
  for root in "$scratch/a" "$scratch/b c"; do
    echo 'int one;' >"$root/src/one.c"
    echo 'int two; // a;b [c' >"$root/src/two.h"
  done
  first=$(hash_of "$scratch/a" src/one.c src/two.h)
  echo "$first" | grep -qx '#define SUMAC_BUILD_HASH 0x[0-9a-f]\{16\}ull' ||
    fail "no hash: $first"
  [ "$first" = "$(hash_of "$scratch/b c" src/one.c src/two.h)" ] ||
    fail "it depends on the directory"
  echo 'int three;' >>"$scratch/a/src/one.c"
  [ "$first" != "$(hash_of "$scratch/a" src/one.c src/two.h)" ] || fail "a change is not seen"
  mv "$scratch/b c/src/one.c" "$scratch/b c/src/new.c"
  [ "$first" != "$(hash_of "$scratch/b c" src/new.c src/two.h)" ] || fail "a name is not seen"
}

# hash_of DIRECTORY FILE...
hash_of() {
  root=$1
  shift
  printf '%s\n' "$@" >"$scratch/list"
  run "$cmake" "-DROOT=$root" "-DLIST=$scratch/list" "-DHEADER=$scratch/header" -P "$script"
  cat "$scratch/header"
}

# aarch64 EXPORTS_MAP COMPILER EMULATOR: builds the stub for aarch64 and repeats the tests of its
# entry points under an emulator.
aarch64() {
  compiler=$2 emulator=$3 here=$tests/preload
  cd "$scratch" || exit 1
  sed 's/^GLIBC_[0-9.]*/GLIBC_2.17/' "$1" >exports.map
  build -fPIC -fvisibility=hidden -DSUMAC_VERSION='"0.1.0"' -DSUMAC_GLIBC='"GLIBC_2.17"' -shared \
    -nostartfiles -Wl,-z,now -Wl,-z,defs -Wl,--version-script=exports.map \
    "$source"/src/interpose/stub/*.[cS] "$source/src/base/launch.c" "$source/src/base/mark.c" \
    "$source/src/base/message.c" "$source/src/base/process_stat.c" "$source/src/config/site.c" \
    -o libsumac.so
  build -fPIC -shared "$here/fake_mpi.c" -o libfake_mpi.so
  build -fPIC -shared -DFAKE_OPENMPI "$here/fake_mpi.c" -o libfake_openmpi.so
  build -fPIC -shared "$here/fake_backend.c" -o libsumac-openmpi.so
  for mpi in mpi openmpi; do
    build "$here/calls.c" libfake_$mpi.so -Wl,-rpath,"$scratch" -o calls_$mpi
  done
  build "$here/threads.c" libfake_openmpi.so -Wl,-rpath,"$scratch" -o threads
  [ "$failures" = 0 ] || finish

  for first in 0 1 2 3 4 5 6; do
    emulate ./calls_mpi arguments "$first"
    expect_out "arguments ok"
    expect_warnings 1
  done
  emulate ./calls_mpi missing
  expect_out "cancel 16, 0 wrong"
  emulate -E FAKE_BACKEND=take ./threads
  expect_out "6400 calls, 0 wrong"
  for mode in reenter unwind; do
    emulate -E FAKE_BACKEND=$mode ./calls_openmpi api
    expect_err "backend started"
    expect_warnings 0
  done
}

build() {
  succeeds "$compiler" -O2 -D_GNU_SOURCE -I"$source/src" -I"$source/include" "$@"
}
emulate() {
  succeeds timeout 60 "$emulator" -L /usr/aarch64-linux-gnu \
    -E LD_PRELOAD="$scratch/libsumac.so" "$@"
}

run_case "$@"
