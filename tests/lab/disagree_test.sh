#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# disagree_test.sh FAMILY LAUNCHER SUMAC PRELOAD PROGRAM: one host has other options than the rest:
# right results, calls handed down everywhere, one warning for the job.
. "$(dirname "$0")/../preload/check.sh"
family=$1 launcher=$2 sumac=$3 mpich_preload=$4 program=$5
. "$(dirname "$0")/lab.sh"
here=$(dirname "$0")
make_lab 2+2
export SUMAC_TEST_LAB=taken # handed down because options differ, not for the hosts

for setting in SUMAC_HIERARCHY=flat SUMAC_ALGO=allreduce:ring SUMAC_SLOW_HOSTS=h1; do
  for host in h0 h1; do
    run job 30 block sh "$here/by_host.sh" $host $setting "$sumac" exec -- "$program"
    expect_status 0
    expect_out "passed: "
    expect_warnings 1
    expect_err "warning[handed-down]: "
  done
done
nothing_left || fail "something is left"
finish
