#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# packages.sh CASE ARGUMENTS...: what is made of the source: packages for Debian, Python's wheel,
# and the same bits again.
. "$(dirname "$0")/../expect.sh"
source=$(cd "$tests/.." && pwd)

# must COMMAND...: it must succeed, or the rest cannot be tried.
must() {
  succeeds "$@"
  [ "$failures" = 0 ] || finish
}

# deb BUILD makes Debian packages of the build, twice with the same bits, lets lintian check them,
# installs them in a Debian that debootstrap makes, uses them there (deb_use.sh) and purges them.
# All that it starts is in a PID namespace of its own.
deb() {
  for program in debootstrap dpkg-buildpackage dh; do
    needs "$program" 'debootstrap, dpkg-dev and debhelper'
  done
  { [ "$(id -u)" = 0 ] && unshare --mount --pid --fork true; } ||
    skip 'this user may make no namespaces'
  folder=$(mktemp -d /var/tmp/sumac-deb-XXXXXX)
  at_end='rm -rf --one-file-system "$folder"'
  unshare --mount --pid --fork --mount-proc --kill-child sh "$0" deb_inside "$1" "$folder"
  exit
}

deb_inside() {
  folder=$2 root=$2/root
  # The mirror is this system's, where a mirror or a proxy may be configured.
  mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | head -n 1)
  codename=$(. /etc/os-release && echo "$VERSION_CODENAME")
  export SOURCE_DATE_EPOCH=1700000000
  for each in deb again; do
    must "$source/scripts/build_deb.sh" --build "$1" --output "$folder/$each"
  done
  for package in "$folder"/deb/*.deb; do must cmp "$package" "$folder/again/${package##*/}"; done
  if command -v lintian >"$out"; then
    must lintian --allow-root --fail-on error,warning "$folder"/deb/*.deb
  else
    echo "no lintian: what Debian's policy asks of packages is not checked"
  fi
  run debootstrap --variant=minbase "$codename" "$root" "$mirror"
  if [ "$status" != 0 ]; then
    tail -n 5 "$out" "$err"
    ! grep -qi 'failed getting release\|unable to\|could not' "$out" "$err" ||
      skip 'there is no network'
    exit 1
  fi
  mount -t proc proc "$root/proc"
  mount --rbind /sys "$root/sys"
  mount --rbind /dev "$root/dev"
  mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
  for file in /etc/resolv.conf /etc/hosts /etc/apt/apt.conf.d/*proxy*; do
    [ ! -e "$file" ] || cp "$file" "$root$file"
  done
  cp "$folder"/deb/sumac_*.deb "$root/sumac.deb"
  cp "$folder"/deb/sumac-plot_*.deb "$root/sumac-plot.deb"
  mkdir "$root/tests"
  cp -r "$tests/consumer" "$tests/environment/probe.c" "$tests/packaging/deb_use.sh" "$root/tests"
  chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
    http_proxy="${http_proxy:-}" https_proxy="${https_proxy:-}" sh /tests/deb_use.sh ||
    fail 'it does not work there'
}

# Makes the wheel, installs it into a new Python environment and uses it there, with Debian's MPIs
# and with the MPIs' own wheels. The build is kept in build/wheel.
wheel() {
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  export OMPI_MCA_rmaps_base_oversubscribe=1
  must python3 -m venv "$scratch/venv"
  pip=$scratch/venv/bin/pip
  run "$pip" download -q --no-deps -d "$scratch" scikit-build-core
  [ "$status" = 0 ] || skip 'pip reaches no index'
  must "$pip" wheel -q --no-deps -w "$scratch" "$source"
  wheel=$(ls "$scratch"/sumac_mpi-*.whl)
  [ "$(stat -c %s "$wheel")" -lt $((10 * 1024 * 1024)) ] || fail "it is larger than 10 MiB"
  must "$pip" install -q "$wheel"

  cd "$scratch" || exit 1
  PATH=$scratch/venv/bin:/usr/bin:/bin
  must sumac --version
  [ "$(head -n 1 "$out")" = "sumac $version" ] || fail "it has another version"
  must sumac completion bash
  package=$(python -c 'import os, sumac_mpi; print(os.path.dirname(sumac_mpi.__file__))')
  [ -f "$package/licenses/libhwy-dev" ] || [ ! -f /usr/share/doc/libhwy-dev/copyright ] ||
    fail "it lacks the licences of what is compiled in"
  for family in openmpi mpich; do
    ! command -v "mpicc.$family" >"$out" || with_debians "$family"
  done
  for mpi in openmpi:openmpi5 mpich:mpich5 impi-rt:intel; do
    with_wheel "${mpi%:*}" "${mpi#*:}"
  done
}

with_debians() {
  must timeout 300 sumac check -n 2 --mpi "$1"
  must cmake -S "$source/tests/consumer" -B "$1" "-DCMAKE_PREFIX_PATH=$package" \
    "-DMPI_C_COMPILER=mpicc.$1"
  must cmake --build "$1"
  run timeout 60 "mpiexec.$1" -n 2 "$1/in_c"
  expect_line '^sum 1 .*, active 0$'
}

# with_wheel PACKAGE MPI checks it in an environment of its own, as its users have it.
with_wheel() {
  venv=$scratch/$1
  must python3 -m venv "$venv"
  must "$venv/bin/pip" install -q "$wheel" "$1"
  PATH=$venv/bin:/usr/bin:/bin must timeout 300 sumac check -n 2 --mpi "$2"
  expect_line "started by $venv/bin/"
}

# reproducible [TARGET...]: with SOURCE_DATE_EPOCH two builds of one source are the same, bit for
# bit, in folders with other names. Builds the C part, or the targets that are given, twice without
# ccache, and compares every library and program as it would be installed.
reproducible() {
  export SOURCE_DATE_EPOCH=1700000000 CCACHE_DISABLE=1
  [ $# -gt 0 ] || set -- sumac_stub sumac_base sumac_config
  build one one "$@"
  build another another/and/deeper "$@"
  cat "$scratch/one.sums"
  [ "$(wc -l <"$scratch/one.sums")" -ge 3 ] || fail 'less than three are built'
  must diff "$scratch/one.sums" "$scratch/another.sums"
  cd "$scratch/one/build" || exit 1
  ! cut -c67- "$scratch/one.sums" | xargs grep -lF "$scratch" ||
    fail "these name the folder that they were built in"
}

# build COPY FOLDER TARGETS...: writes the names and hashes of what is built into COPY.sums.
build() {
  copy=$1 top=$scratch/$2
  shift 2
  mkdir -p "$top"
  (cd "$source" && tar -c --exclude=./build --exclude=./.venv --exclude=./.git .) | tar -x -C "$top"
  must cmake -S "$top" -B "$top/build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_CXX_FLAGS=-g1 -DCMAKE_C_FLAGS=-g1 -DCMAKE_BUILD_WITH_INSTALL_RPATH=ON
  must cmake --build "$top/build" --target "$@"
  (cd "$top/build" && find . -name CMakeFiles -prune -o -type f \( -name 'libsumac*.a' \
    -o -name 'libsumac*.so*' -o -path './bin/*' -o -perm -100 -name 'sumac-*' \) \
    ! -name 'libsumac_precompiled*' -exec sha256sum {} + | sort -k 2) >"$scratch/$copy.sums"
}

run_case "$@"
