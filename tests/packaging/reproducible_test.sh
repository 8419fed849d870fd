#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# reproducible_test.sh [TARGET...]: with SOURCE_DATE_EPOCH two builds of one source are the same,
# bit for bit, in folders with other names. Builds the C part, or the targets that are given, twice
# without ccache, and compares every library and program as it would be installed.
set -eu
source=$(cd "$(dirname "$0")/../.." && pwd)
folder=$(mktemp -d /var/tmp/sumac-reproducible-XXXXXX)
trap 'rm -rf "$folder"' EXIT
trap 'exit 143' INT TERM
export SOURCE_DATE_EPOCH=1700000000 CCACHE_DISABLE=1
[ $# -gt 0 ] || set -- sumac_stub sumac_base sumac_config

quietly() {
  "$@" >"$folder/log" 2>&1 && return
  tail -n 30 "$folder/log"
  exit 1
}

# build COPY FOLDER TARGETS...: writes the names and hashes of what is built into COPY.sums.
build() {
  copy=$1 top=$folder/$2
  shift 2
  mkdir -p "$top"
  (cd "$source" && tar -c --exclude=./build --exclude=./.venv --exclude=./.git .) | tar -x -C "$top"
  quietly cmake -S "$top" -B "$top/build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_CXX_FLAGS=-g1 -DCMAKE_C_FLAGS=-g1 -DCMAKE_BUILD_WITH_INSTALL_RPATH=ON
  quietly cmake --build "$top/build" --target "$@"
  (cd "$top/build" && find . -name CMakeFiles -prune -o -type f \( -name 'libsumac*.a' \
    -o -name 'libsumac*.so*' -o -path './bin/*' -o -perm -100 -name 'sumac-*' \) \
    ! -name 'libsumac_precompiled*' -exec sha256sum {} + | sort -k 2) >"$folder/$copy.sums"
}

build one one "$@"
build another another/and/deeper "$@"
cat "$folder/one.sums"
[ "$(wc -l <"$folder/one.sums")" -ge 3 ]
diff "$folder/one.sums" "$folder/another.sums"
if (cd "$folder/one/build" && cut -c67- "$folder/one.sums" | xargs grep -lF "$folder"); then
  echo "these name the folder that they were built in"
  exit 1
fi
