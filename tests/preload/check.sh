# SPDX-License-Identifier: BSD-3-Clause
# Sourced by the shell tests: runs a command, then compares its status and output.
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failures=0
version=$(sed -n 's/^__version__ = "\(.*\)"/\1/p' \
  "$(dirname "$0")/../../python/sumac_mpi/__init__.py")
unset SUMAC_DISABLE SUMAC_DEBUG LD_PRELOAD

# run COMMAND...: stores its exit status in $status, its output in the files $out and $err.
out=$scratch/out
err=$scratch/err
run() {
  command_line=$*
  "$@" >"$out" 2>"$err"
  status=$?
}

fail() {
  failures=$((failures + 1))
  echo "FAILED: $command_line"
  echo "  $1"
  head -20 "$out" | sed 's/^/  stdout: /'
  head -20 "$err" | sed 's/^/  stderr: /'
}

expect_status() { [ "$status" = "$1" ] || fail "exit status is $status, not $1"; }
expect_out() { grep -qF -- "$1" "$out" || fail "standard output lacks: $1"; }
expect_err() { grep -qF -- "$1" "$err" || fail "standard error lacks: $1"; }
expect_silence() { [ ! -s "$err" ] || fail "standard error is not empty"; }
# expect_warnings N: N lines must come from Sumac.
expect_warnings() {
  found=$(grep -c '^sumac: ' "$err")
  [ "$found" = "$1" ] || fail "$found lines from Sumac, not $1"
}

finish() {
  [ "$failures" = 0 ] && echo "all checks passed"
  exit "$((failures != 0))"
}
