#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# harmless_test.sh LIBSUMAC: programs without MPI run unchanged and print nothing more.
. "$(dirname "$0")/check.sh"
library=$1

with() { run env LD_PRELOAD="$library" "$@"; }

with /bin/true
expect_status 0
expect_silence
with sh -c 'exit 3'
expect_status 3
expect_silence
with env
expect_status 0
expect_silence
expect_out "LD_PRELOAD=$library"
with sh -c 'cat /dev/null | sort | sh -c "kill -TERM \$\$"; exit 7'
expect_status 7
if command -v python3 >/dev/null; then
  with python3 -c 'print(1)'
  expect_status 0
  expect_out 1
  expect_silence
  with python3 -c 'import ctypes; print(ctypes.CDLL(None).sumac_active())'
  expect_out 0
  expect_silence
fi
finish
