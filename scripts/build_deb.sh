#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds Debian packages of this source for the Debian that it runs on: sumac, and sumac-plot.
# Usage: scripts/build_deb.sh [--build FOLDER] [--output FOLDER]
# --build: packages what is built there (build/release), and compiles nothing. --output: where
# they go (build/deb). pip fetches the Python packages that the command needs. Exit status:
# 0 built, 1 not, 2 usage, 3 a program is missing.
set -eu
cd "$(dirname "$0")/.."
build="" output=build/deb
while [ $# -gt 0 ]; do
  case $1 in
    --build) build=$(realpath "${2:?a folder}") ;;
    --output) output=${2:?a folder} ;;
    *)
      sed -n 's/^# \(Usage.*\)/\1/p' "$0" >&2
      exit 2
      ;;
  esac
  shift 2
done
for program in dpkg-buildpackage dh; do
  if ! command -v "$program" >/dev/null; then
    echo "build_deb: no $program: apt-get install dpkg-dev debhelper" >&2
    exit 3
  fi
done
mkdir -p "$output"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# A copy of the source, since dpkg-buildpackage writes into it and beside it.
version=$(sed -n 's/^__version__ = "\(.*\)"/\1/p' python/sumac_mpi/__init__.py)
source=$folder/sumac-$version
mkdir "$source"
tar -c --exclude=./build --exclude=./.venv --exclude=./.git . | tar -x -C "$source"
if [ -e .git ] &&
  git describe --always --abbrev=12 --exclude='*' --dirty=+ >"$folder/commit" 2>/dev/null; then
  cp "$folder/commit" "$source/cmake/archived_commit.txt"
fi
cp -r packaging/debian "$source/debian"
date=$(LC_ALL=C date -u -R ${SOURCE_DATE_EPOCH:+--date="@$SOURCE_DATE_EPOCH"})
sed -e "s/@VERSION@/$version/" -e "s/@DATE@/$date/" packaging/debian/changelog.in \
  >"$source/debian/changelog"
homepage=$(sed -n 's/^Homepage = "\(.*\)"/\1/p' pyproject.toml)
sed -i "s|@HOMEPAGE@|$homepage|" "$source/debian/control"

# -d: where only what was built is packaged, the libraries to build it may be gone.
export DEB_BUILD_OPTIONS="noautodbgsym ${DEB_BUILD_OPTIONS:-}" SUMAC_BUILD="$build"
(cd "$source" && dpkg-buildpackage -us -uc -b ${build:+-d}) >"$output/build.log" 2>&1 || {
  tail -n 40 "$output/build.log" >&2
  exit 1
}
cp "$folder"/*.deb "$output"
ls -l "$output"/*.deb
