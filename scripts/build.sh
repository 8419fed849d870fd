#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Sets up, compiles, and installs into .venv. It makes the Python environment while it compiles.
# Usage: scripts/build.sh PRESET [--check|--all]
# --check also compiles the tests; --all also sets up what only 'make check-all' needs.
set -eu
cd "$(dirname "$0")/.."
preset=$1
what=${2:-}
targets=""  # what was asked for once is built from then on
[ -n "$what" ] && targets="-DSUMAC_TESTS=ON -DSUMAC_BENCHMARKS=ON"

made=bin/sumac
[ -n "$what" ] && made=tests/mpi/programs
if [ ! -e "build/$preset/$made" ]; then
  cat <<END
build: compiles Sumac${what:+ and its tests} in build/$preset, and installs it into .venv with the
  Python packages of python/requirements*.txt, which pip downloads. With two processors this
  takes ${what:+more than }a quarter of an hour, with many of them some minutes.
END
fi
scripts/setup_packages.sh "$what"
mkdir -p "build/$preset"
scripts/setup_python.sh "$what" >"build/$preset/setup-python.log" 2>&1 &
python=$!
trap 'kill "$python" 2>/dev/null' EXIT
# shellcheck disable=SC2086
cmake --preset "$preset" $targets
cmake --build --preset "$preset"
status=0
wait "$python" || status=$?
trap - EXIT
cat "build/$preset/setup-python.log"
[ "$status" = 0 ] || exit "$status"
cmake --install "build/$preset" --prefix "$PWD/.venv" >"build/$preset/install-venv.log"
