#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# build_hash_test.sh CMAKE SCRIPT: the hash of the sources is the same in any directory, and changes
# with the content or the name of a file.
. "$(dirname "$0")/check.sh"
cmake=$1 script=$2

# hash_of DIRECTORY FILE...
hash_of() {
  root=$1
  shift
  printf '%s\n' "$@" >"$scratch/list"
  run "$cmake" "-DROOT=$root" "-DLIST=$scratch/list" "-DHEADER=$scratch/header" -P "$script"
  cat "$scratch/header"
}

mkdir -p "$scratch/a/src" "$scratch/b c/src"
for root in "$scratch/a" "$scratch/b c"; do
  echo 'int one;' >"$root/src/one.c"
  echo 'int two; // a;b [c' >"$root/src/two.h"
done
first=$(hash_of "$scratch/a" src/one.c src/two.h)
echo "$first" | grep -qx '#define SUMAC_BUILD_HASH 0x[0-9a-f]\{16\}ull' || fail "no hash: $first"
[ "$first" = "$(hash_of "$scratch/b c" src/one.c src/two.h)" ] || fail "it depends on the directory"
echo 'int three;' >>"$scratch/a/src/one.c"
[ "$first" != "$(hash_of "$scratch/a" src/one.c src/two.h)" ] || fail "a change is not seen"
mv "$scratch/b c/src/one.c" "$scratch/b c/src/new.c"
[ "$first" != "$(hash_of "$scratch/b c" src/new.c src/two.h)" ] || fail "a name is not seen"
finish
