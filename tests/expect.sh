# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# Sourced by the tests that are shell scripts: it runs commands, and says what is expected of them.
# A script whose cases are functions ends with `run_case "$@"`.
scratch=$(mktemp -d)
at_end='' # commands for the end of the test, however it comes
trap 'eval "$at_end"; rm -rf "$scratch"' EXIT
trap 'exit 1' INT TERM HUP
failures=0
tests=$(cd "${tests:-$(dirname "$0")/..}" && pwd)
version=$(sed -n 's/^__version__ = "\(.*\)"/\1/p' "$tests/../python/sumac_mpi/__init__.py")
# What the user has set must not change a test; what the test has set is kept.
[ -n "${settings_are_the_tests:-}" ] || unset SUMAC_DISABLE SUMAC_DEBUG LD_PRELOAD

# patient SECONDS: prints SECONDS times the number of processes per processor, at most 6 times.
# These limits only end jobs that hang; no test passes or fails by its duration. Those of ctest
# (SUMAC_PATIENCE in cmake/SumacTargets.cmake) are longer.
patient() {
  awk -v seconds="$1" -v processors="$(nproc)" \
    '{ times = 1 + int($1 / processors); print seconds * (times > 6 ? 6 : times) }' /proc/loadavg
}

# run COMMAND...: stores its exit status in $status, its output in the files $out and $err.
out=$scratch/out
err=$scratch/err
run() {
  command_line=$*
  "$@" >"$out" 2>"$err"
  status=$?
}

show() { cat "$out" "$err"; }

fail() {
  failures=$((failures + 1))
  echo "FAILED: $command_line"
  echo "  $1"
  head -20 "$out" | sed 's/^/  stdout: /'
  head -20 "$err" | sed 's/^/  stderr: /'
}

# skip REASON ends the test as one that cannot be tried here, unless something has failed. needs
# PROGRAM PACKAGE does so where the program is missing.
skip() {
  [ "$failures" = 0 ] || finish
  echo "SKIPPED: $1"
  exit 77
}
needs() { command -v "$1" >"$out" || skip "there is no $1: install $2"; }

# wait_until SECONDS CONDITION...: true when it holds within this time.
wait_until() {
  looks=$(($1 * 10))
  shift
  until "$@"; do
    looks=$((looks - 1))
    [ "$looks" -gt 0 ] || return 1
    sleep 0.1
  done
}

expect_status() { [ "$status" = "$1" ] || fail "exit status is $status, not $1"; }
expect_out() { grep -qF -- "$1" "$out" || fail "standard output lacks: $1"; }
expect_err() { grep -qF -- "$1" "$err" || fail "standard error lacks: $1"; }
expect_silence() { [ ! -s "$err" ] || fail "standard error is not empty"; }

# expect_line PATTERN expects such a line on either stream, and expect_no_line that there is none.
expect_line() { grep -Eq -- "$1" "$out" "$err" || fail "nobody says: $1"; }
expect_no_line() { ! grep -E -- "$1" "$out" "$err" || fail "somebody says: $1"; }

# expect_times NUMBER PATTERN expects so many such lines of standard error.
expect_times() {
  found=$(grep -Ec -- "$2" "$err")
  [ "$found" = "$1" ] || fail "$found times, not $1: $2"
}
# expect_warnings NUMBER TEXT... expects so many lines from Sumac, and that these texts are there.
expect_warnings() {
  expect_times "$1" '^sumac: '
  shift
  for text in "$@"; do expect_err "$text"; done
}
expect_once() {
  found=$(grep -cF -- "$1" "$err")
  [ "$found" = 1 ] || fail "$found times, not once: $1"
}

# expect_passed expects that a program of the tests has found all its results right.
expect_passed() {
  expect_status 0
  expect_line 'passed: [1-9]'
}
skipped() { grep -q '^SKIPPED' "$out"; }

# expect_ended expects that the job has failed, and did not have to be ended when its time was over.
expect_ended() {
  [ "$status" != 0 ] && [ "$status" != 124 ] || fail "exit status is $status"
  expect_no_line 'out of time'
}

# Each of these runs a command and says what is expected of it.
succeeds() { run "$@"; expect_status 0; }
passes() { run "$@"; expect_passed; }
ends() { run "$@"; expect_ended; }

# Jobs with SUMAC_STATS=$stats leave their statistics there.
stats=$scratch/stats.json
# expect_figure NAME TEST VALUE compares the first figure of this name as test(1) does.
figure() { grep -o "\"$1\": [0-9]*" "$stats" | head -n 1 | grep -o '[0-9]*$'; }
expect_figure() {
  found=$(figure "$1")
  test "${found:--1}" "$2" "$3" || fail "$1 is '$found', not $2 $3"
}
# expect_path COLLECTIVE PATH expects that some calls were served so. Both are patterns.
expect_path() {
  grep -E "\"($1)\", \"path\": \"($2)\", \"taken\": true" "$stats" >"$scratch/paths" ||
    fail "no $1 is served by $2: $(cat "$stats")"
}
expect_json() {
  python3 -m json.tool "$1" >"$scratch/json" || fail "$1 is not JSON"
}

finish() {
  [ "$failures" = 0 ] && echo "all checks passed"
  exit "$((failures != 0))"
}

# run_case CASE ARGUMENTS...: runs one of the script's functions.
run_case() {
  case=$1
  "$@"
  finish
}
