#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# device_errors_test.sh FAMILY LAUNCHER SUMAC PROGRAM: what goes wrong with a GPU's memory on one
# rank ends the job, with a message, and no rank hangs.
. "$(dirname "$0")/../preload/check.sh"
family=$1 launcher=$2 sumac=$3 program=$4
. "$(dirname "$0")/../mpi/launch.sh"

# ends SLUG WHAT: the job ends with this error.
ends() {
  run launch 40 3 "$program" "$2"
  [ "$status" != 0 ] || fail "status 0: $2"
  [ "$status" != 124 ] || fail "a rank hangs: $2"
  grep -q "error\[$1\]" "$out" "$err" || fail "no error[$1]: $2"
}

ends device-copy fails
ends device-changed changes
nothing_left || fail 'something is left'
finish
