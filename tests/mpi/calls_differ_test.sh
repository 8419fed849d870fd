#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# calls_differ_test.sh FAMILY LAUNCHER SUMAC PROGRAM [--all]: calls that differ between ranks must
# end the job with an error line that names both, and leave no process or file behind. By default
# each kind of call is tried with the one before it, with --all with every other. The numbers of
# ranks take turns: RANK_COUNTS, "2 3". WITHOUT: a call that the MPI serves. Every STEP-th pair is
# tried (1).
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

previous='' pairs=0
# shellcheck disable=SC2086
set -- ${RANK_COUNTS:-2 3}
calls=$("$program" | grep -vx "${WITHOUT:-}")
for one in $calls; do
  for other in ${all:+$calls} $previous; do
    [ "$one" != "$other" ] || continue
    pairs=$((pairs + 1))
    [ $((pairs % ${STEP:-1})) = 0 ] || continue
    expect_differ "$1" "$one" "$other"
    set -- "$2" "$1"
  done
  previous=$one
done
nothing_left || fail "something is left"
finish
