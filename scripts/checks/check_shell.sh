#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Shell scripts pass shellcheck, and with each the files that it sources.
set -eu
cd "$(dirname "$0")/../.."
status=0
while IFS= read -r file; do
  [ "$(head -c 2 "$file")" = '#!' ] || continue
  shellcheck --external-sources --source-path=SCRIPTDIR --severity=warning \
    --exclude=SC2034 "$file" || status=1
done < <(git ls-files --cached --others --exclude-standard -- \
  '*.sh' .ci/run 'scripts/lab*')
exit $status
