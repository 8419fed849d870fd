#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# C and C++ are formatted as .clang-format says. With --fix, formats them.
set -eu
cd "$(dirname "$0")/../.."

# The C and C++ files of the repository: tracked, and new ones that are not ignored.
sources() {
  git ls-files -z --cached --others --exclude-standard -- '*.c' '*.h' '*.cc' '*.cpp' '*.hpp' |
    xargs -0 ls -d -- 2>/dev/null
}

if [ "${1:-}" = --fix ]; then
  sources | xargs -r -d '\n' clang-format -i
  exit
fi
unformatted=$(sources | xargs -r -d '\n' clang-format --dry-run 2>&1 |
  sed -n 's/^\([^:]*\):[0-9:]* warning: code should be clang-formatted.*/\1/p' | sort -u)
if [ -n "$unformatted" ]; then
  echo "not formatted (fix: make format):"
  echo "$unformatted"
  exit 1
fi
