#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# aarch64_test.sh SOURCE_DIR EXPORTS_MAP COMPILER EMULATOR: builds the stub for aarch64 and repeats
# the tests of its entry points under an emulator.
. "$(dirname "$0")/check.sh"
source=$1 exports=$2 compiler=$3 emulator=$4
sysroot=/usr/aarch64-linux-gnu
here=$source/tests/preload
cd "$scratch" || exit 1

build() {
  run "$compiler" -O2 -D_GNU_SOURCE -I"$source/src" -I"$source/include" "$@"
  expect_status 0
}
sed 's/^GLIBC_[0-9.]*/GLIBC_2.17/' "$exports" >exports.map
build -fPIC -fvisibility=hidden -DSUMAC_VERSION='"0.1.0"' -DSUMAC_GLIBC='"GLIBC_2.17"' -shared \
  -nostartfiles -Wl,-z,now -Wl,-z,defs -Wl,--version-script=exports.map \
  "$source"/src/interpose/stub/*.[cS] "$source/src/base/launch.c" "$source/src/base/mark.c" \
  "$source/src/base/message.c" "$source/src/base/process_stat.c" "$source/src/config/site.c" \
  -o libsumac.so
build -fPIC -shared "$here/fake_mpi.c" -o libfake_mpi.so
build -fPIC -shared -DFAKE_OPENMPI "$here/fake_mpi.c" -o libfake_openmpi.so
build -fPIC -shared "$here/fake_backend.c" -o libsumac-openmpi.so
build "$here/arguments.c" libfake_mpi.so -Wl,-rpath,"$scratch" -o arguments
build "$here/missing.c" libfake_mpi.so -Wl,-rpath,"$scratch" -o missing
build "$here/threads.c" libfake_openmpi.so -Wl,-rpath,"$scratch" -o threads
build "$here/api.c" libfake_openmpi.so -Wl,-rpath,"$scratch" -o api
[ "$failures" = 0 ] || finish

emulate() { run timeout 60 "$emulator" -L "$sysroot" -E LD_PRELOAD="$scratch/libsumac.so" "$@"; }
for first in 0 1 2 3 4 5 6; do
  emulate "$scratch/arguments" "$first"
  expect_status 0
  expect_out "arguments ok"
  expect_warnings 1
done
emulate "$scratch/missing"
expect_status 0
expect_out "cancel 16, 0 wrong"
emulate -E FAKE_BACKEND=take "$scratch/threads"
expect_status 0
expect_out "6400 calls, 0 wrong"
for mode in reenter unwind; do
  emulate -E FAKE_BACKEND=$mode "$scratch/api"
  expect_status 0
  expect_err "backend started"
  expect_warnings 0
done
finish
