#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Prints the Python to use, of at least 3.11 and able to make environments: $PYTHON if set, else
# Debian's, else the newest in PATH. Exit status 3 when there is none.
set -eu
usable='import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))'
for candidate in ${PYTHON:-/usr/bin/python3 python3.14 python3.13 python3.12 python3.11 python3}; do
  if "$candidate" -E -c "$usable" 2>/dev/null; then
    command -v "$candidate"
    exit
  fi
done
echo "setup: no Python of at least 3.11 with its venv module" >&2
echo "  fix: apt-get install python3-venv" >&2
exit 3
