#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# surroundings_test.sh FAMILY LAUNCHER SUMAC PROGRAM: in a locale with a decimal comma, what Sumac
# writes has points; and the files are where the program was when it started.
. "$(dirname "$0")/../preload/check.sh"
family=$1 launcher=$2 sumac=$3 program=$4
. "$(dirname "$0")/launch.sh"
here=$(cd "$(dirname "$0")" && pwd)
cd "$scratch" || exit 1

locale=C
if command -v localedef >/dev/null && localedef -i de_DE -f UTF-8 "$scratch/de_DE.UTF-8" 2>/dev/null
then
  locale=de_DE.UTF-8
  export LOCPATH="$scratch"
fi
for promote in off eager; do
  rm -rf st.json trace
  mkdir trace
  LC_ALL=$locale SUMAC_PROMOTE=$promote SUMAC_DEBUG=trace SUMAC_STATS=./st.json SUMAC_TRACE=trace \
    run launch 60 3 "$program"
  expect_status 0
  expect_out 'passed: '
  [ "$locale" = C ] || expect_out "locale $locale, 1,5"
  grep -E '^sumac: .*[0-9],[0-9]+ (ns|us|ms|s|MiB|KiB|GiB)' "$err" && fail 'a decimal comma'
  grep '^[0-9]* descriptors' "$out"
  run python3 -m json.tool st.json
  expect_status 0
  expect_out '"seconds": 0.'
  run python3 "$here/recording.py" trace/rank-2.trace
  expect_status 0
  # The table.
  LC_ALL=$locale SUMAC_PROMOTE=$promote SUMAC_STATS=yes run launch 60 2 "$program"
  expect_err 'sumac summary'
  grep -E '[0-9],[0-9]+ (ns|us|ms|s)' "$err" && fail 'a decimal comma in the table'
done
nothing_left || fail 'something is left'
finish
