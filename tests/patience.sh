# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# Sourced: time limits for a busy machine. They only end jobs that hang; no test passes or fails by
# its duration. The limits of ctest (SUMAC_PATIENCE in cmake/SumacTargets.cmake) are longer.

# patient SECONDS: prints SECONDS times the number of processes per processor, at most 6 times.
patient() {
  awk -v seconds="$1" -v processors="$(nproc)" \
    '{ times = 1 + int($1 / processors); print seconds * (times > 6 ? 6 : times) }' /proc/loadavg
}
