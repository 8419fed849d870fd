#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Prints the Python to use, of at least 3.11 and able to make environments: $PYTHON if set, else
# Debian's, else the newest in PATH. Exit status 3 when there is none.
# Usage: scripts/find_python.sh [OS-RELEASE]: the file that names the system, /etc/os-release.
set -eu
usable='import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))'
for candidate in ${PYTHON:-/usr/bin/python3 python3.14 python3.13 python3.12 python3.11 python3}; do
  if "$candidate" -E -c "$usable" 2>/dev/null; then
    command -v "$candidate"
    exit
  fi
done
echo "setup: no Python of at least 3.11 with its venv module" >&2
system=$(sed -n -e 's/^ID=//p' -e 's/^ID_LIKE=//p' "${1:-/etc/os-release}" | xargs)
case "$system" in
  *rhel* | *fedora*) fix="dnf install python3.11" ;;
  *suse*) fix="zypper install python311" ;;
  *ubuntu*) fix="apt-get install python3.11-venv, or python3-venv from Ubuntu 24.04 on" ;;
  *) fix="apt-get install python3-venv, or the package of a Python of at least 3.11" ;;
esac
echo "  fix: $fix; or name a Python that is not in PATH: PYTHON=/path/to/python3" >&2
exit 3
