#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# without_test.sh FAMILY LAUNCHER SUMAC PRELOAD PROGRAM: ranks on several hosts of which some have
# no Sumac. Those of other hosts cannot be told, so the job is ended, by one who sees it or when
# the others have waited for long; where all find the same, it goes on.
. "$(dirname "$0")/../preload/check.sh"
family=$1 launcher=$2 sumac=$3 mpich_preload=$4 program=$5
. "$(dirname "$0")/lab.sh"
here=$(dirname "$0")
make_lab 2+2
reason='a member runs without Sumac'

ended() {
  [ "$status" != 0 ] && [ "$status" != 124 ] || fail "exit status is $status"
  grep -q 'out of time' "$err" && fail 'it was not ended by Sumac'
}

export SUMAC_HANG_SECONDS=3
for host in h0 h1; do
  # Nobody on the other host sees it.
  run job 100 block sh "$here/by_host.sh" $host SUMAC_DISABLE=1 "$sumac" exec -- "$program" barriers
  ended
  grep -Eq 'error\[set-up\]: rank [0-3] of 4 has waited 3 s .* so the job is ended' "$err" ||
    fail 'nobody says why'
  # Ranks are dealt out in turns: 0 and 2 are on h0. Each communicator of one host's is served.
  run job 100 turns sh "$here/by_host.sh" $host SUMAC_DISABLE=1 "$sumac" exec -- \
    "$program" pairs "$reason"
  expect_status 0
  expect_out 'passed: '
  expect_out ' 2 with Sumac, 0 failed'
done

# One rank of a host: the other one sees it.
run job 100 block sh -c '
  [ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" != 1 ] || export SUMAC_DISABLE=1
  exec "$@"' sh "$sumac" exec -- "$program" barriers
ended
expect_warnings 1
expect_err 'error[rank-without-sumac]: rank 1 (process '
expect_err 'SUMAC_DISABLE is set there'
nothing_left || fail "something is left"
finish
