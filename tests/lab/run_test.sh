#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# run_test.sh FAMILY LAUNCHER SUMAC PRELOAD SECONDS LAYOUT PLACEMENT EXPECTED PROGRAM [ARGUMENTS]:
# one job in its own lab, which must print that it passed, and leave nothing behind. Status 77 when
# skipped. EXPECTED: collective:path,... that rank 0 must have used; a path may be a pattern.
family=$1 launcher=$2 sumac=$3 mpich_preload=$4 time=$5 layout=$6 placement=$7 expected=$8
shift 8
. "$(dirname "$0")/lab.sh"
make_lab "$layout"
# Tests ask how a call was served, which must not depend on what happens to be faster.
export SUMAC_ADAPT="${SUMAC_ADAPT:-off}"
export SUMAC_STATS="$output.json"

job "$time" "$placement" "$sumac" exec -- "$@" >"$output"
status=$?
cat "$output"
nothing_left || exit 1
[ "$status" = 0 ] || exit "$status"
grep -q '^SKIPPED' "$output" && exit 77
grep -q '^passed: [1-9]' "$output" || exit 1

for path in $(echo "$expected" | tr , ' '); do
  if ! grep "\"${path%:*}\"" "$output.json" |
    grep -Eq "\"path\": \"(${path#*:})\", \"taken\": true"; then
    cat "$output.json"
    echo "FAILED: no $path was taken" && exit 1
  fi
done
