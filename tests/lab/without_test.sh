#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# without_test.sh FAMILY LAUNCHER SUMAC PRELOAD PROGRAM: ranks on several hosts, some without Sumac.
# A rank on another host cannot detect that, so the job is ended: by a rank that sees the problem,
# or after ranks have waited for long. Where all ranks find the same problem, the job goes on.
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
  # No rank on the other host can see that Sumac is missing.
  run job 100 block sh "$here/by_host.sh" $host SUMAC_DISABLE=1 "$sumac" exec -- "$program" barriers
  ended
  grep -Eq 'error\[set-up\]: rank [0-3] of 4 has waited 3 s .* so the job is ended' "$err" ||
    fail 'nobody says why'
  # Ranks are placed in turns: 0 and 2 are on h0. So the communicators lie within one host.
  run job 100 turns sh "$here/by_host.sh" $host SUMAC_DISABLE=1 "$sumac" exec -- \
    "$program" pairs "$reason"
  expect_status 0
  expect_out 'passed: '
  expect_out ' 2 with Sumac, 0 failed'
done

# One rank of a host has no Sumac: the other rank of this host sees that. On a busy machine it may
# come so late that others would have waited for 3 s, and say so as well.
export SUMAC_HANG_SECONDS=60
run job 100 block sh -c '
  [ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" != 1 ] || export SUMAC_DISABLE=1
  exec "$@"' sh "$sumac" exec -- "$program" barriers
ended
expect_warnings 1
expect_err 'error[rank-without-sumac]: rank 1 (process '
expect_err 'it is switched off there'
nothing_left || fail "something is left"
finish
