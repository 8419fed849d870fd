# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# Sourced: limits on time for a busy machine. They end what hangs, and no test is right or wrong by
# them; ctest's own (SUMAC_PATIENCE in cmake/SumacTargets.cmake) are longer than any of these.

# patient SECONDS: prints them as many times as there are processes for each processor, at most 6.
patient() {
  awk -v seconds="$1" -v processors="$(nproc)" \
    '{ times = 1 + int($1 / processors); print seconds * (times > 6 ? 6 : times) }' /proc/loadavg
}
