#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# inspected_test.sh FAMILY LAUNCHER SUMAC PROGRAM core|debugger PYTHON: core files show promoted
# buffers; a debugger reads and writes them. Status 77 where this cannot be tried.
family=$1 launcher=$2 sumac=$3 program=$4 case=$5 python=$6
tests=$(dirname "$0")/..
. "$tests/mpi/launch.sh"
export SUMAC_PROMOTE=eager UCX_MEM_EVENTS=no
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

if [ "$case" = debugger ]; then
  command -v gdb >/dev/null || exit 77
  launch 120 2 "$program" debugger >"$folder/output"
  status=$?
  cat "$folder/output"
  nothing_left || exit 1
  grep -q '^SKIPPED' "$folder/output" && exit 77
  [ "$status" = 0 ] && grep -q '^passed: [1-9]' "$folder/output"
  exit
fi

# The kernel must write core files where the process stands.
case $(cat /proc/sys/kernel/core_pattern) in
  '' | \|* | /*) exit 77 ;;
esac
launch 120 2 "$program" core "$folder" >"$folder/output" 2>&1
cat "$folder/output"
nothing_left || exit 1
grep -q '^SKIPPED' "$folder/output" && exit 77
buffer=$(sed -n 's/^buffer //p' "$folder/output")
[ -n "$buffer" ] || exit 1
rm "$folder/output"
set -- "$folder"/*
[ -f "$1" ] || { echo 'FAILED: there is no core file' && exit 1; }
# shellcheck disable=SC2086 # an address and a number
"$python" "$(dirname "$0")/core_file.py" "$1" $buffer
