#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# coupler_test.sh FAMILY LAUNCHER SUMAC LIBSUMAC COUPLER PROGRAM: a tool that gives each half of the
# job a world of its own does so wherever it stands, and Sumac sees each call of both halves once.
family=$1 launcher=$2 sumac=$3 library=$4 coupler=$5 program=$6
tests=$(dirname "$0")/..
. "$tests/mpi/launch.sh"
output=$(mktemp)
trap 'rm -f "$output"' EXIT
counts="Allreduce 50 Bcast 20 Reduce 10 Barrier 25"
none="Allreduce 0 Bcast 0 Reduce 0 Barrier 0"

# run PRELOAD WANTED-OF-SUMAC COMMAND...: five ranks, and each half prints what Sumac saw.
run() {
  preload=$1 of_sumac=$2
  shift 2
  launch_plain 60 5 env LD_PRELOAD="$preload" "$@" "$program" >"$output" 2>&1
  status=$?
  [ "$status" = 0 ] && [ "$(grep -cx "sumac: $of_sumac" "$output")" = 2 ] && return
  echo "LD_PRELOAD=$preload $*: status $status, not twice '$of_sumac'"
  cat "$output"
  exit 1
}

run "$coupler" "$none"
run "$coupler:$library" "$counts"
# `sumac exec` puts Sumac behind what is preloaded.
run "$coupler" "$counts" "$sumac" exec --
run "$library:$coupler" "$counts"
SUMAC_DISABLE=1
export SUMAC_DISABLE
run "$library:$coupler" "$none"
nothing_left
