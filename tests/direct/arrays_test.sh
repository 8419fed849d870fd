#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# arrays_test.sh FAMILY LAUNCHER SUMAC PYTHON ROUNDS SECONDS [WAY]: arrays.py; some calls must go
# direct: of arrays that are promoted, or that come into being in that way and are not.
family=$1 launcher=$2 sumac=$3 python=$4 rounds=$5 seconds=$6 way=${7:-}
tests=$(dirname "$0")/..
. "$tests/mpi/launch.sh"
export OPENBLAS_NUM_THREADS=1
[ -n "$way" ] || export SUMAC_PROMOTE=eager UCX_MEM_EVENTS=no
"$python" -c 'import numpy, mpi4py' 2>/dev/null || exit 77
output=$(mktemp)
trap 'rm -f "$output"' EXIT

launch "$seconds" 2 "$python" "$(dirname "$0")/arrays.py" "$rounds" 5 ${way:+"$way"} \
  >"$output" 2>&1
status=$?
cat "$output"
nothing_left || exit 1
[ "$status" = 0 ] || exit 1
grep -q '^passed: [1-9]' "$output" || exit 1
grep -q '; [1-9][0-9]* of [0-9]* calls went direct' "$output"
