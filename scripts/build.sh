#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Sets up, compiles, and installs into .venv. It makes the Python environment while it compiles.
# Usage: scripts/build.sh PRESET [--check|--all|--demo]
# --check also compiles the tests; --all also sets up what only 'make check-all' needs. --demo
# compiles only what 'make demo' runs, and installs nothing; the next build goes on from there.
set -eu
cd "$(dirname "$0")/.."
preset=$1
what=${2:-}
demo=""
if [ "$what" = --demo ]; then
  demo=yes what=""
fi
targets=""  # what was asked for once is built from then on
[ -n "$what" ] && targets="-DSUMAC_TESTS=ON -DSUMAC_BENCHMARKS=ON"

made=lib/libsumac-mpiabi.so minutes=seven
[ -n "$what" ] && made=tests/mpi/programs minutes=ten
if [ -n "$demo" ] && [ ! -e "build/$preset/bin/sumac" ]; then
  cat <<END
demo: compiles what the demonstration needs in build/$preset: about four minutes with two
  processors. The Python packages of python/requirements*.txt, which pip downloads, go into .venv.
  'make build' compiles the rest, and installs Sumac into .venv.
END
elif [ -z "$demo" ] && [ ! -e "build/$preset/$made" ]; then
  cat <<END
build: compiles Sumac${what:+ and its tests} in build/$preset, and installs it into .venv with the
  Python packages of python/requirements*.txt, which pip downloads. With two processors this
  takes about $minutes minutes, with many of them less.
END
fi
scripts/setup_packages.sh "$what"
mkdir -p "build/$preset"
scripts/setup_python.sh "$what" >"build/$preset/setup-python.log" 2>&1 &
python=$!
trap 'kill "$python" 2>/dev/null' EXIT
# shellcheck disable=SC2086
cmake --preset "$preset" $targets
cmake --build --preset "$preset" ${demo:+--target demonstration}
status=0
wait "$python" || status=$?
trap - EXIT
cat "build/$preset/setup-python.log"
[ "$status" = 0 ] || exit "$status"
[ -z "$demo" ] || exit 0
cmake --install "build/$preset" --prefix "$PWD/.venv" >"build/$preset/install-venv.log"
