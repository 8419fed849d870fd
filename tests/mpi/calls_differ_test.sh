#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# calls_differ_test.sh FAMILY LAUNCHER SUMAC PROGRAM [--all]: calls that differ between ranks must
# end the job with an error line that names both, and leave no process or file behind. By default
# each kind of call is tried with the one before it, with --all with every other.
. "$(dirname "$0")/../preload/check.sh"
family=$1 launcher=$2 sumac=$3 program=$4 all=${5-}
. "$(dirname "$0")/launch.sh"

# expect_differ RANKS ONE OTHER
expect_differ() {
  run launch 40 "$1" "$program" "$2" "$3"
  [ "$status" != 0 ] || fail "$2, $3 on $1 ranks: status 0"
  [ "$status" != 124 ] || fail "$2, $3 on $1 ranks: out of time"
  grep -Eq "error\[calls-differ\]: rank [0-9]+ calls MPI_[A-Z].*; rank [0-9]+ calls MPI_[A-Z]" \
    "$err" || fail "$2, $3 on $1 ranks: no line that names both"
}

ranks=2 previous=
for one in $("$program"); do
  for other in ${all:+$("$program")} $previous; do
    [ "$one" = "$other" ] || expect_differ "$ranks" "$one" "$other"
  done
  previous=$one
  ranks=$((5 - ranks)) # 2 and 3 in turns
done
nothing_left || fail "something is left"
finish
