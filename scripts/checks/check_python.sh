#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Python is formatted and linted as pyproject.toml says. With --fix, formats it.
set -eu
cd "$(dirname "$0")/../.."
ruff="${PYTHON:-.venv/bin/python} -m ruff"
if [ "${1:-}" = --fix ]; then
  $ruff format --no-cache --quiet python scripts tests experiments
  exit
fi
status=0
$ruff format --no-cache --quiet --check python scripts tests experiments || {
  echo "not formatted: see '$ruff format --diff' (fix: make format)"
  status=1
}
$ruff check --no-cache --quiet python scripts tests experiments || status=1
exit $status
