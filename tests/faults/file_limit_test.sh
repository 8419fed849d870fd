#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# file_limit_test.sh FAMILY LAUNCHER SUMAC PROGRAM: the limit of files' sizes sinks to nothing.
. "$(dirname "$0")/../preload/check.sh"
family=$1 launcher=$2 sumac=$3 program=$4
. "$(dirname "$0")/../mpi/launch.sh"
mkdir "$scratch/trace"
export SUMAC_STATS="$scratch/stats.json" SUMAC_TRACE="$scratch/trace"
run launch 90 3 "$program" file_limit
expect_status 0
expect_out 'passed: '
expect_err 'warning[stats-file]'
grep served "$out"
nothing_left || fail 'something is left'
finish
