#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# calls_differ_test.sh FAMILY LAUNCHER SUMAC PROGRAM: calls that differ between ranks must end the
# job with an error line, and leave no process or file behind.
. "$(dirname "$0")/../preload/check.sh"
family=$1 launcher=$2 sumac=$3 program=$4
. "$(dirname "$0")/launch.sh"

# Without single copy, which would mistake data written by another call for addresses, and fail at
# once.
export SUMAC_CMA=off
for ranks in 2 3; do
  for kind in bcast-lines bcast-slots allreduce collectives; do
    run launch 40 "$ranks" "$program" "$kind"
    [ "$status" != 0 ] || fail "$kind on $ranks ranks: status 0"
    [ "$status" != 124 ] || fail "$kind on $ranks ranks: out of time"
    expect_err "error[calls-differ]: rank "
  done
done
nothing_left || fail "something is left"
finish
