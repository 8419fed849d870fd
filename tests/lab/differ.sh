#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# differ.sh CASE FAMILY LAUNCHER SUMAC PROGRAM PRELOAD: hosts, or ranks of a host, differ from the
# rest.
. "$(dirname "$0")/lab.sh"

# One host has other options than the rest. Results must be right, calls handed down on all ranks,
# and one warning per job must name the ranks and their options.
disagree() {
  make_lab 2+2 "$1"
  unset SUMAC_ADAPT SUMAC_KNOWN_AFTER # messages tell which options are set
  for setting in HIERARCHY=flat ALGO=allreduce:ring SLOW_HOSTS=h1; do
    for host in h0 h1; do
      # Ranks 0 and 1 are on h0.
      case $host in
        h0) what="rank 2 has only defaults, rank 0 has $setting;" ;;
        h1) what="rank 2 has $setting, rank 0 has only defaults;" ;;
      esac
      passes job 180 block sh -c "$on_host" $host SUMAC_$setting "$sumac" exec -- \
        "$program" --differ
      expect_warnings 1 "warning[options-differ]: $what give all the same"
    done
  done
}

# The last rank calls something else than the rest, of which one is on its host. The job must end
# with a line that names both calls.
calls_differ() {
  make_lab 2+2 "$1"
  previous=barrier
  for one in bcast-few allreduce reduce-slots allreduce-max bcast-many bcast-other-root allgather
  do
    ends job 60 block "$sumac" exec -- "$program" "$previous" "$one"
    expect_line 'error\[calls-differ\]: rank [23] calls MPI_[A-Z].*; rank [23] calls MPI_[A-Z]'
    previous=$one
  done
}

# Some ranks have no Sumac. A rank on another host cannot detect that, so the job is ended: by a
# rank that sees the problem, or after ranks have waited for long. Where all ranks find the same
# problem, the job goes on.
without() {
  make_lab 2+2 "$1"
  export SUMAC_HANG_SECONDS=3
  for host in h0 h1; do
    # No rank on the other host can see that Sumac is missing.
    ends job 100 block sh -c "$on_host" $host SUMAC_DISABLE=1 "$sumac" exec -- "$program" barriers
    expect_line 'error\[set-up\]: rank [0-3] of 4 has waited 3 s .* so the job is ended'
    # Ranks are placed in turns: 0 and 2 are on h0. So the communicators lie within one host.
    passes job 100 turns sh -c "$on_host" $host SUMAC_DISABLE=1 "$sumac" exec -- \
      "$program" pairs 'a member runs without Sumac'
    expect_out ' 2 with Sumac, 0 failed'
  done

  # One rank of a host has no Sumac: the other rank of this host sees that. On a busy machine it may
  # come so late that others would have waited for 3 s, and say so as well.
  export SUMAC_HANG_SECONDS=60
  run job 100 block sh -c '
    [ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" != 1 ] || export SUMAC_DISABLE=1
    exec "$@"' sh "$sumac" exec -- "$program" barriers
  expect_ended
  expect_warnings 1 'error[rank-without-sumac]: rank 1 (process '
  expect_err 'it is switched off there'
}

run_job_case "$@"
