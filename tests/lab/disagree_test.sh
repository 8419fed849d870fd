#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# disagree_test.sh FAMILY LAUNCHER SUMAC PRELOAD PROGRAM: one host has other options than the rest.
# Results must be right, calls handed down on all ranks, and one warning per job must name the ranks
# and their options.
. "$(dirname "$0")/../preload/check.sh"
family=$1 launcher=$2 sumac=$3 mpich_preload=$4 program=$5
. "$(dirname "$0")/lab.sh"
here=$(dirname "$0")
make_lab 2+2

for setting in HIERARCHY=flat ALGO=allreduce:ring SLOW_HOSTS=h1; do
  for host in h0 h1; do
    # Ranks 0 and 1 are on h0.
    case $host in
      h0) what="rank 2 has only defaults, rank 0 has $setting;" ;;
      h1) what="rank 2 has $setting, rank 0 has only defaults;" ;;
    esac
    run job 180 block sh "$here/by_host.sh" $host SUMAC_$setting \
      "$sumac" exec -- "$program" --differ
    expect_status 0
    expect_out "passed: "
    expect_warnings 1
    expect_err "warning[options-differ]: $what give all the same"
  done
done
nothing_left || fail "something is left"
finish
