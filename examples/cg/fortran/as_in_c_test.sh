#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# as_in_c_test.sh LAUNCHER SUMAC RANKS FORTRAN C ARGUMENTS...: both programs print the same, but for
# times: in Fortran with Sumac, in C with it and without.
launcher=$1 sumac=$2 ranks=$3 fortran=$4 c=$5
shift 5
results=$(mktemp)
trap 'rm -f "$results" "$results".*' EXIT

# run NAME COMMAND...: what it prints; the residual with the digits that C prints.
run() {
  name=$1
  shift
  timeout 100 "$launcher" -n "$ranks" "$@" >"$results" || {
    echo "$name: status $?"
    exit 1
  }
  grep -v '^seconds\|^collectives' "$results" |
    awk '$1 == "true_residual" { $2 = sprintf("%.3e", $2) } { $1 = $1; print }' >"$results.$name"
}

run fortran "$sumac" exec -- "$fortran" "$@"
run sumac "$sumac" exec -- "$c" "$@"
run c "$c" "$@"
grep -q '^iterations [1-9]' "$results.c" && diff "$results.c" "$results.fortran" &&
  diff "$results.c" "$results.sumac"
