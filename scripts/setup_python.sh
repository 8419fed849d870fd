#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Makes .venv with the packages pinned in python/requirements.txt, which the sumac command needs,
# and in requirements-plot.txt, which draw pictures. With --check or --all, adds those of
# requirements-check.txt. Nothing is done when .venv was made from the same files. A .venv that this
# script did not make is left alone.
set -eu
cd "$(dirname "$0")/.."
venv=$PWD/.venv
stamp=$venv/.made-from
sources="python/requirements.txt python/requirements-plot.txt python/requirements-check.txt
  scripts/setup_python.sh scripts/mpi4py_by_launcher.py"

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

# Only the wheels whose hashes are listed: nothing is compiled, so no build tools are downloaded
# either.
install() {
  "$venv/bin/python" -m pip --disable-pip-version-check install --quiet --no-input \
    --only-binary :all: --no-deps --no-compile --require-hashes -r "$1" ||
    fail "pip could not install $1 into .venv (see above)" \
      "check the network or the index that pip is configured for, then 'make setup' again" 1
  "$venv/bin/python" -m pip check >/dev/null ||
    fail "$1 does not fit together: $("$venv/bin/python" -m pip check)" "correct its versions" 1
}

# mpi4py follows the launcher: see mpi4py_by_launcher.py.
install_for_check() {
  install python/requirements-check.txt
  local site
  site=$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
  cp scripts/mpi4py_by_launcher.py "$site/"
  echo 'import mpi4py_by_launcher' >"$site/mpi4py_by_launcher.pth"
  add_mpich_alias
}

python=$(scripts/find_python.sh)
# shellcheck disable=SC2086
identity=$({ cat $sources; echo "$venv"; "$python" -VV; ls -L /usr/lib/*/libmpich.so.12; } 2>&1 |
  sha256sum)
made=$(cat "$stamp" 2>/dev/null || true)

if [ "${made% and check}" != "$identity" ]; then
  if [ -e "$venv" ] && [ ! -f "$stamp" ]; then
    fail "$venv exists and was not made by this script" "move it away, then 'make setup' again" 1
  fi
  echo "setup: making .venv with $("$python" -V)"
  rm -rf "$venv"
  mkdir "$venv"
  : >"$stamp"
  "$python" -m venv "$venv"
  install python/requirements.txt
  install python/requirements-plot.txt
  made=$identity
  echo "$made" >"$stamp"
fi
if [ -n "${1:-}" ] && [ "$made" = "$identity" ]; then
  install_for_check
  echo "$identity and check" >"$stamp"
fi
