#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Makes this machine ready to build: the Debian packages, then the Python environment in .venv.
# Usage: scripts/setup.sh [--check|--all]
# --check adds what 'make check' needs, --all what 'make check-all' does.
# Does nothing, quickly, when all is there. Exit status: 0 ready, 1 an install failed, 3 something
# is missing that this user may not install.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/setup_packages.sh "$@"
scripts/setup_python.sh "$@"
