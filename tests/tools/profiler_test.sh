#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# profiler_test.sh FAMILY LAUNCHER SUMAC LIBSUMAC PROFILER PROGRAM: a profiler before Sumac counts
# every call, behind it none; Sumac sees each once, and the results are right.
family=$1 launcher=$2 sumac=$3 library=$4 profiler=$5 program=$6
tests=$(dirname "$0")/..
. "$tests/mpi/launch.sh"
output=$(mktemp)
trap 'rm -f "$output"' EXIT
counts="Allreduce 50 Bcast 20 Reduce 10 Barrier 25"
none="Allreduce 0 Bcast 0 Reduce 0 Barrier 0"

# run PRELOAD WANTED-OF-SUMAC WANTED-OF-PROFILER COMMAND...
run() {
  preload=$1 of_sumac=$2 of_profiler=$3
  shift 3
  launch_plain 60 3 env LD_PRELOAD="$preload" "$@" "$program" >"$output" 2>&1
  status=$?
  if [ "$status" != 0 ] || ! grep -qx "sumac: $of_sumac" "$output" ||
    ! grep -q "^profiler: $of_profiler" "$output"; then
    echo "LD_PRELOAD=$preload $*: status $status, not '$of_sumac' and '$of_profiler'"
    cat "$output"
    exit 1
  fi
}

run "$profiler" "$none" "$counts, time is measured"
run "$profiler:$library" "$counts" "$counts, time is measured"
# `sumac exec` puts Sumac behind what is preloaded.
run "$profiler" "$counts" "$counts, time is measured" "$sumac" exec --
# Behind Sumac only MPI_Finalize, which Sumac passes on to the MPI, would be its own.
launch_plain 60 3 env LD_PRELOAD="$library:$profiler" "$program" >"$output" 2>&1 &&
  grep -qx "sumac: $counts" "$output" && ! grep -q '^profiler' "$output" || {
  echo "behind Sumac:"
  cat "$output"
  exit 1
}
nothing_left
