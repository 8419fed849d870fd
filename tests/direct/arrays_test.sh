#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# arrays_test.sh FAMILY LAUNCHER SUMAC PYTHON ROUNDS SECONDS: arrays.py; some calls must go direct.
family=$1 launcher=$2 sumac=$3 python=$4 rounds=$5 seconds=$6
tests=$(dirname "$0")/..
. "$tests/mpi/launch.sh"
export SUMAC_PROMOTE=eager UCX_MEM_EVENTS=no OPENBLAS_NUM_THREADS=1
"$python" -c 'import numpy, mpi4py' 2>/dev/null || exit 77
output=$(mktemp)
trap 'rm -f "$output"' EXIT

launch "$seconds" 2 "$python" "$(dirname "$0")/arrays.py" "$rounds" 5 >"$output" 2>&1
status=$?
cat "$output"
nothing_left || exit 1
[ "$status" = 0 ] || exit 1
grep -q '^passed: [1-9]' "$output" || exit 1
grep -q '; [1-9][0-9]* of [0-9]* calls went direct' "$output"
