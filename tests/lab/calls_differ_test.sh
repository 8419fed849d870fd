#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# calls_differ_test.sh FAMILY LAUNCHER SUMAC PRELOAD PROGRAM: the last rank calls something else
# than the rest, of which one is on its host. The job must end with a line that names both calls.
. "$(dirname "$0")/../preload/check.sh"
family=$1 launcher=$2 sumac=$3 mpich_preload=$4 program=$5
. "$(dirname "$0")/lab.sh"
make_lab 2+2
export SUMAC_ADAPT=off

previous=barrier
for one in bcast-few allreduce reduce-slots allreduce-max bcast-many bcast-other-root allgather; do
  run job 60 block "$sumac" exec -- "$program" "$previous" "$one"
  [ "$status" != 0 ] || fail "$previous, $one: status 0"
  [ "$status" != 124 ] || fail "$previous, $one: out of time"
  grep -Eq "error\[calls-differ\]: rank [23] calls MPI_[A-Z].*; rank [23] calls MPI_[A-Z]" \
    "$err" || fail "$previous, $one: no line that names both"
  previous=$one
done
nothing_left || fail "something is left"
finish
