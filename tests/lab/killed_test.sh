#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# killed_test.sh FAMILY LAUNCHER SUMAC PRELOAD PROGRAM "CASE..." "ALGORITHM..." KINDS...: a rank of
# a job on several hosts is killed; CASE is COUNT:VICTIM:WHEN, as tests/faults/killed.cc has it. The
# job must end, with a status that says so, and leave nothing on any host.
family=$1 launcher=$2 sumac=$3 mpich_preload=$4 program=$5 cases=$6 algorithms=$7
shift 7
. "$(dirname "$0")/lab.sh"
make_lab 2+2
jobs=0
for algorithm in $algorithms; do
  export SUMAC_ALGO="$algorithm"
  for kind in "$@"; do
    for case in $cases; do
      count=${case%%:*} rest=${case#*:}
      job 120 block "$sumac" exec -- "$program" "${algorithm%%:*}" "$kind" "$count" \
        "${rest%%:*}" "${rest#*:}" "$(patient 20)" >"$output" 2>&1
      status=$?
      jobs=$((jobs + 1))
      if [ $status = 0 ] || [ $status = 124 ] || ! grep -q '^victim: ' "$output" ||
        grep -q 'out of time\|FAILED' "$output"; then
        cat "$output"
        echo "FAILED: $algorithm $kind $case, status $status" && exit 1
      fi
      nothing_left || exit 1
    done
  done
done
echo "$jobs jobs ended by themselves, nothing left"
