#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Makes .venv with the packages pinned in python/requirements.txt. Nothing is done when .venv was
# made from the same files. A .venv that this script did not make is left alone.
set -eu
cd "$(dirname "$0")/.."
venv=$PWD/.venv
stamp=$venv/.made-from
sources="python/requirements.txt scripts/setup_python.sh scripts/mpi4py_by_launcher.py"

fail() {
  echo "setup: $1" >&2
  echo "  fix: $2" >&2
  exit "$3"
}

# Debian's MPICH under the name by which mpi4py's wheel asks for it.
add_mpich_alias() {
  mkdir -p "$venv/lib/mpich"
  cc -shared -o "$venv/lib/mpich/libmpi.so.12" -Wl,-soname,libmpi.so.12 -Wl,--no-as-needed \
    -x c /dev/null -l:libmpich.so.12 2>/dev/null ||
    echo "setup: no MPICH found: mpi4py in .venv will use the default MPI only"
}

python=$(scripts/find_python.sh)
# shellcheck disable=SC2086
identity=$({ cat $sources; echo "$venv"; "$python" -VV; ls -L /usr/lib/*/libmpich.so.12; } 2>&1 |
  sha256sum)
[ -f "$stamp" ] && [ "$(cat "$stamp")" = "$identity" ] && exit 0

if [ -e "$venv" ] && [ ! -f "$stamp" ]; then
  fail "$venv exists and was not made by this script" "move it away, then 'make setup' again" 1
fi
echo "setup: making .venv with $("$python" -V)"
rm -rf "$venv"
mkdir "$venv"
: >"$stamp"
"$python" -m venv "$venv"
# Wheels only: nothing is compiled, so no build tools are downloaded either.
if ! "$venv/bin/python" -m pip --disable-pip-version-check install --quiet --no-input \
  --only-binary :all: --no-deps -r python/requirements.txt; then
  fail "pip could not install python/requirements.txt into .venv (see above)" \
    "check the network or the index that pip is configured for, then 'make setup' again" 1
fi
"$venv/bin/python" -m pip check >/dev/null ||
  fail "python/requirements.txt does not fit together: $("$venv/bin/python" -m pip check)" \
    "correct its versions" 1

site=$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
cp scripts/mpi4py_by_launcher.py "$site/"
echo 'import mpi4py_by_launcher' >"$site/mpi4py_by_launcher.pth"
add_mpich_alias
echo "$identity" >"$stamp"
