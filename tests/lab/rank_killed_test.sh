#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# rank_killed_test.sh FAMILY LAUNCHER SUMAC PRELOAD PROBE: a rank on the last host is killed during
# all-reduces. The job must end by itself, and leave nothing on any host.
family=$1 launcher=$2 sumac=$3 mpich_preload=$4 probe=$5
. "$(dirname "$0")/lab.sh"
make_lab 2+2
for placement in block turns; do
  job 180 $placement "$sumac" exec -- "$probe" kill >"$output" 2>&1
  status=$?
  if [ $status = 0 ] || [ $status = 124 ] || ! grep -q '^allreduce 1048576 ' "$output"; then
    cat "$output"
    echo "FAILED: $placement, status $status" && exit 1
  fi
  nothing_left || exit 1
done
echo "ended by itself, nothing left"
