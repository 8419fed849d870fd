#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# C and C++ are formatted as .clang-format says; Python is formatted and linted as pyproject.toml
# says; shell scripts pass shellcheck, and with each the files that it sources. With --fix, formats
# C, C++ and Python.
set -eu
cd "$(dirname "$0")/../.."
ruff="${PYTHON:-.venv/bin/python} -m ruff"
python="python scripts tests experiments"

# The files of the repository that match: tracked, and new ones that are not ignored.
files() {
  git ls-files --cached --others --exclude-standard -- "$@"
}

c_sources() {
  files '*.c' '*.h' '*.cc' '*.cpp' '*.hpp' | tr '\n' '\0' | xargs -0 ls -d -- 2>/dev/null
}

if [ "${1:-}" = --fix ]; then
  c_sources | xargs -r -d '\n' clang-format -i
  # shellcheck disable=SC2086
  $ruff format --no-cache --quiet $python
  exit
fi

status=0
unformatted=$(c_sources | xargs -r -d '\n' clang-format --dry-run 2>&1 |
  sed -n 's/^\([^:]*\):[0-9:]* warning: code should be clang-formatted.*/\1/p' | sort -u)
if [ -n "$unformatted" ]; then
  echo "not formatted (fix: make format):"
  echo "$unformatted"
  status=1
fi
# shellcheck disable=SC2086
$ruff format --no-cache --quiet --check $python || {
  echo "not formatted: see '$ruff format --diff' (fix: make format)"
  status=1
}
# shellcheck disable=SC2086
$ruff check --no-cache --quiet $python || status=1
while IFS= read -r file; do
  [ "$(head -c 2 "$file")" = '#!' ] || continue
  shellcheck --external-sources --source-path=SCRIPTDIR --severity=warning \
    --exclude=SC2034 "$file" || status=1
done < <(files '*.sh' .ci/run 'scripts/lab*')
exit $status
